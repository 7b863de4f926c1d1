/** The modes, as links: each can be opened in a new tab. */
import type { MouseEvent } from 'react';
import type { Mode } from '../state/url';
import { go, hrefOf, useView } from '../state/view';

const ITEMS: readonly (readonly [Mode, string])[] = [
  ['explore', 'Explore'],
  ['personal', 'Personal data'],
  ['changes', 'Changes'],
  ['coverage', 'Coverage'],
  ['runs', 'Runs'],
  ['quarantine', 'Quarantine'],
];

const changeTo = (mode: Mode) => ({ mode, sort: null, hide: [], pick: null, job: null }) as const;

export function Nav() {
  const current = useView((view) => view.mode);
  useView((view) => view);
  const open = (event: MouseEvent, mode: Mode) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(changeTo(mode));
  };
  return (
    <nav className="modes" aria-label="modes">
      {ITEMS.map(([mode, title]) => (
        <a
          key={mode}
          href={hrefOf(changeTo(mode))}
          aria-current={mode === current ? 'page' : undefined}
          onClick={(event) => open(event, mode)}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}
