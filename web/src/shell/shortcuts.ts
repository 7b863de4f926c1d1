/** Keys that work everywhere. The help dialog is made from the same table. */
import { useEffect } from 'react';
import { opened, STEP } from '../graph/columnGraph';
import { tableOf } from '../state/names';
import { createStore } from '../state/store';
import type { Side } from '../state/url';
import { go, viewStore } from '../state/view';

export const helpOpen = createStore(false);

export const KEYS: readonly (readonly [keys: string, meaning: string])[] = [
  ['/ or Ctrl K', 'search'],
  ['↑ ↓ ← →', 'move among rows and cards'],
  ['Enter', 'put the column in the middle'],
  ['Space', 'pin the path through it'],
  ['[ and ]', 'expand upstream, downstream'],
  ['i', 'indirect lineage on or off'],
  ['p', 'personal data'],
  ['l', 'list on or off'],
  ['Esc', 'clear the pin, close'],
  ['?', 'these keys'],
];

function toSearch(): void {
  const fields = [...document.querySelectorAll<HTMLInputElement>('[data-search]')];
  const seen = fields.filter((field) => field.offsetParent !== null);
  (seen.find((field) => field.dataset.search === 'large') ?? seen[0])?.focus();
}

function expand(side: Side): void {
  const { column, open, depth } = viewStore.get();
  if (column !== null) go({ open: opened(open, tableOf(column), side, depth === 1 ? STEP : 0) });
}

const ACTIONS: Readonly<Record<string, () => void>> = {
  '/': toSearch,
  '?': () => helpOpen.set(true),
  i: () => go({ indirect: !viewStore.get().indirect }),
  p: () => go({ mode: viewStore.get().mode === 'personal' ? 'explore' : 'personal', sort: null, hide: [] }),
  l: () => go({ list: !viewStore.get().list }, 'replace'),
  '[': () => expand('up'),
  ']': () => expand('down'),
  Escape: () => go({ pick: null }),
};

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

function onKeyDown(event: KeyboardEvent): void {
  const searching = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k';
  if (!searching && (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target))) return;
  if (document.querySelector('dialog[open]')) return;
  const action = searching ? toSearch : ACTIONS[event.key];
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
