/** The current view as a store that is kept in sync with the address bar. */
import { ROOT } from './root';
import { createStore, useStore } from './store';
import { HOME, readView, type View, writeView } from './url';

const currentView = () => readView(location.pathname.slice(ROOT.length), location.search);

export const viewStore = createStore<View>(currentView());

/** Changes the view and the URL. `replace` adds no entry to the browser history. */
export function navigate(change: Partial<View>, entry: 'push' | 'replace' = 'push'): void {
  const next = { ...viewStore.get(), ...change };
  const url = `${ROOT}${writeView(next)}`;
  if (url === `${location.pathname}${location.search}`) return;
  if (entry === 'push') history.pushState(null, '', url);
  else history.replaceState(null, '', url);
  viewStore.set(next);
}

/** The parts of a view that belong to one column; they are reset when another column is opened. */
export const COLUMN_DEFAULTS = {
  open: HOME.open,
  whole: HOME.whole,
  unfold: HOME.unfold,
  pick: null,
  hide: HOME.hide,
  sort: null,
  tag: null,
} as const;

/** Shows the lineage of a column, or its personal data when that page is open. */
export function openColumn(column: string): void {
  const { mode, direction, asOf, list, panel } = viewStore.get();
  navigate({
    ...HOME,
    asOf,
    list,
    panel,
    column,
    direction,
    mode: mode === 'personal' ? mode : 'explore',
  });
}

/** What a link to the page of a table or job changes. The as-of time stays, everything else is reset. */
export const tablePage = (table: string): View => ({
  ...HOME,
  asOf: viewStore.get().asOf,
  mode: 'tables',
  table,
});
export const jobPage = (job: string): View => ({
  ...HOME,
  asOf: viewStore.get().asOf,
  mode: 'runs',
  job,
});

/** URL of the view with these changes, for links that can be opened in a new tab. */
export function viewUrl(change: Partial<View>): string {
  return `${ROOT}${writeView({ ...viewStore.get(), ...change })}`;
}

window.addEventListener('popstate', () => viewStore.set(currentView()));

export function useView<P>(select: (view: View) => P): P {
  return useStore(viewStore, select);
}
