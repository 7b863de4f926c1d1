/** The view on screen: one store, kept equal to the address bar. */
import { createStore, useStore } from './store';
import { HOME, readView, type View, writeView } from './url';

export const viewStore = createStore<View>(readView(location.search));

/** Goes to a changed view. `replace` leaves no step for the back button. */
export function go(change: Partial<View>, how: 'push' | 'replace' = 'push'): void {
  const next = { ...viewStore.get(), ...change };
  const address = `${location.pathname}${writeView(next)}`;
  if (address === `${location.pathname}${location.search}`) return;
  if (how === 'push') history.pushState(null, '', address);
  else history.replaceState(null, '', address);
  viewStore.set(next);
}

/** What a new column in focus leaves behind: everything that belonged to the one before. */
export const FRESH = {
  open: HOME.open,
  whole: HOME.whole,
  pick: null,
  hide: HOME.hide,
  sort: null,
  tag: null,
} as const;

/** Puts a column in the middle; the mode stays where it asks about a column. */
export function focus(column: string): void {
  const { mode, direction } = viewStore.get();
  go({ ...FRESH, column, direction, mode: mode === 'personal' ? mode : 'explore', depth: HOME.depth });
}

/** The address of a view, for a link that also opens in a new tab. */
export function hrefOf(change: Partial<View>): string {
  return `${location.pathname}${writeView({ ...viewStore.get(), ...change })}`;
}

window.addEventListener('popstate', () => viewStore.set(readView(location.search)));

export function useView<P>(part: (view: View) => P): P {
  return useStore(viewStore, part);
}
