/** Keyboard shortcuts that work on every page. */
import { useEffect } from 'react';
import { addExpansion, TABLES_PER_EXPANSION } from '../graph/columnGraph';
import { findOpen } from '../graph/findState';
import { tableOf } from '../state/names';
import { createStore } from '../state/store';
import type { Side } from '../state/url';
import { navigate, viewStore } from '../state/view';

export const helpOpen = createStore(false);

/** All shortcuts, as the help dialog lists them. */
export const SHORTCUTS: readonly (readonly [keys: string, description: string])[] = [
  ['/ or Ctrl K', 'Search'],
  ['↑ ↓ ← →', 'Move between rows and cards'],
  ['Enter', 'Focus the column'],
  ['Space', 'Pin the path through the column'],
  ['[ and ]', 'Expand upstream, downstream'],
  ['f', 'Find in the graph'],
  ['i', 'Show or hide indirect lineage'],
  ['p', 'Personal data'],
  ['l', 'Show or hide the table'],
  ['d', 'Show or hide the details'],
  ['Esc', 'Clear the selection, close'],
  ['?', 'Show this help'],
];

function focusSearch(): void {
  const fields = [...document.querySelectorAll<HTMLInputElement>('[data-search]')];
  const visible = fields.filter((field) => field.offsetParent !== null);
  (visible.find((field) => field.dataset.search === 'large') ?? visible[0])?.focus();
}

function expand(side: Side): void {
  const { column, open, depth } = viewStore.get();
  if (column === null) return;
  const shown = depth === 1 ? TABLES_PER_EXPANSION : 0;
  navigate({ open: addExpansion(open, tableOf(column), side, shown) });
}

const ACTIONS: Readonly<Record<string, () => void>> = {
  '/': focusSearch,
  '?': () => helpOpen.set(true),
  i: () => navigate({ indirect: !viewStore.get().indirect }),
  p: () =>
    navigate({ mode: viewStore.get().mode === 'personal' ? 'explore' : 'personal', sort: null, hide: [] }),
  l: () => navigate({ list: !viewStore.get().list }, 'replace'),
  d: () => navigate({ panel: !viewStore.get().panel }, 'replace'),
  f: () => findOpen.set(true),
  '[': () => expand('up'),
  ']': () => expand('down'),
  Escape: () => navigate({ pick: null, run: null }),
};

const isTextInput = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

function onKeyDown(event: KeyboardEvent): void {
  const isSearch = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k';
  if (!isSearch && (event.ctrlKey || event.metaKey || event.altKey || isTextInput(event.target))) return;
  if (document.querySelector('dialog[open]')) return;
  const action = isSearch ? focusSearch : ACTIONS[event.key];
  if (action === undefined) return;
  event.preventDefault();
  action();
}

export function useShortcuts(): void {
  useEffect(() => {
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, []);
}
