/** React hook for a paged query: loads the first page immediately and further pages on request. */
import { useState } from 'react';
import type { Answer } from './answers';
import { type QueryState, useQuery } from './useQuery';

export interface PagedQuery<A> {
  readonly query: QueryState<A>;
  /** Loads the next page; null when all pages are loaded. */
  readonly onLoadMore: (() => void) | null;
}

/** The pages loaded so far as one answer. `append` adds the rows of a page to those before it. */
export function usePagedQuery<A extends Answer>(
  key: string,
  load: (cursor: string | null) => Promise<A>,
  append: (loaded: A, page: A) => A,
): PagedQuery<A> {
  const query = useQuery(key, () => load(null));
  const [pages, setPages] = useState<{ first: A; loaded: A } | null>(null);
  const first = query.state === 'done' ? query.value : null;
  if (first === null) return { query, onLoadMore: null };
  const loaded = pages?.first === first ? pages.loaded : first;
  const loadMore = async () => {
    const page = await load(loaded.cursor);
    const joined = { ...append(loaded, page), left_out: page.left_out, cursor: page.cursor };
    setPages({ first, loaded: joined });
  };
  return {
    query: { state: 'done', value: loaded, error: null },
    onLoadMore: loaded.cursor === null ? null : () => void loadMore(),
  };
}

/** Appends the rows of a page. */
export function appendRows<A extends { readonly rows: readonly unknown[] }>(loaded: A, page: A): A {
  return { ...loaded, rows: [...loaded.rows, ...page.rows] };
}
