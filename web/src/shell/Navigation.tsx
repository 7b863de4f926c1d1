/** Links to the pages; each can be opened in a new tab. */
import type { MouseEvent } from 'react';
import type { Mode } from '../state/url';
import { navigate, useView, viewUrl } from '../state/view';

const ITEMS: readonly (readonly [Mode, string])[] = [
  ['explore', 'Explore'],
  ['tables', 'Tables'],
  ['runs', 'Jobs'],
  ['personal', 'Personal data'],
  ['changes', 'Changes'],
  ['coverage', 'Coverage'],
  ['quarantine', 'Quarantine'],
];

const changeTo = (mode: Mode) =>
  ({ mode, sort: null, hide: [], pick: null, job: null, table: null, tab: null, run: null }) as const;

export function Navigation() {
  const { mode: current } = useView((view) => view);
  const open = (event: MouseEvent, mode: Mode) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    navigate(changeTo(mode));
  };
  return (
    <nav className="navigation" aria-label="Pages">
      {ITEMS.map(([mode, title]) => (
        <a
          key={mode}
          href={viewUrl(changeTo(mode))}
          aria-current={mode === current ? 'page' : undefined}
          onClick={(event) => open(event, mode)}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}
