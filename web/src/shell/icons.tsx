/** SVG icons. Drawn here so that they do not depend on the installed fonts. */

export const SHIELD = 'M8 1.5 13 3.3v3.9c0 3.2-2 5.9-5 7.3-3-1.4-5-4.1-5-7.3V3.3Z';

export const SUM = 'M12 4.5V3H4l4 5-4 5h8v-1.5';
export const QUESTION = 'M5.5 6a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.8-1.1 1.8M8 12.5v.5';

const PATHS = {
  search: 'M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9m3.3 7.8 3.7 3.7',
  theme: 'M8 1.5a6.5 6.5 0 1 0 0 13ZM8 1.5a6.5 6.5 0 0 1 0 13',
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8Z',
  close: 'm3.5 3.5 9 9m0-9-9 9',
  open: 'M6 3H3v10h10v-3M9 3h4v4m0-4L7 9',
  down: 'm3.5 6 4.5 4.5L12.5 6',
  list: 'M2.5 3.5h11v9h-11zM2.5 9.5h11',
  panel: 'M2.5 3.5h11v9h-11zM9.5 3.5v9',
  check: 'm3 8.5 3.5 3.5L13 4.5',
} as const;

export function Icon({ name }: { name: keyof typeof PATHS }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

export function ShieldIcon() {
  return (
    <svg className="icon badge shield-icon" viewBox="0 0 16 16" role="img" aria-label="masked">
      <path d={SHIELD} />
    </svg>
  );
}

export function SumIcon() {
  return (
    <svg className="icon badge" viewBox="0 0 16 16" role="img" aria-label="aggregated">
      <path d={SUM} />
    </svg>
  );
}

export function UnknownIcon() {
  return (
    <svg className="icon badge" viewBox="0 0 16 16" aria-hidden="true">
      <path d={QUESTION} />
    </svg>
  );
}
