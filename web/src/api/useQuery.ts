/** React hook that runs a query and reports its state: loading, slow, done or failed. */
import { useEffect, useState } from 'react';
import { freshness, recordSnapshot } from '../state/freshness';
import { useStore } from '../state/store';
import { ApiError, type ApiResponse } from './client';

export type QueryState<T> =
  | { readonly state: 'idle' | 'loading' | 'slow'; readonly value: T | null; readonly error: null }
  | { readonly state: 'done'; readonly value: T; readonly error: null }
  | { readonly state: 'failed'; readonly value: null; readonly error: ApiError };

/** A loading message that appears sooner would only flicker. */
const SLOW_AFTER_MS = 150;
const IDLE = { state: 'idle', value: null, error: null } as const;

const toApiError = (error: unknown) =>
  error instanceof ApiError
    ? error
    : new ApiError('page', String(error), 'Reload the page. If the error persists, report it.');

/**
 * The state of the query `load`. It runs again when `key` or the snapshot changes, and not at all while `key` is null.
 * The previous value is kept during loading, so that a component can show it as outdated.
 */
export function useQuery<T>(key: string | null, load: () => Promise<T>): QueryState<T> {
  const epoch = useStore(freshness, (value) => value.epoch);
  const [current, setCurrent] = useState<{ key: string | null; query: QueryState<T> }>({
    key: null,
    query: IDLE,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` identifies everything that `load` depends on
  useEffect(() => {
    if (key === null) {
      setCurrent({ key, query: IDLE });
      return;
    }
    let mounted = true;
    const update = (next: (previous: QueryState<T>) => QueryState<T>) =>
      mounted && setCurrent((previous) => ({ key, query: next(previous.query) }));
    update((previous) => ({ state: 'loading', value: previous.value, error: null }));
    const timer = setTimeout(
      () => update((previous) => (previous.state === 'loading' ? { ...previous, state: 'slow' } : previous)),
      SLOW_AFTER_MS,
    );
    load().then(
      (value) => update(() => ({ state: 'done', value, error: null })),
      (error: unknown) => update(() => ({ state: 'failed', value: null, error: toApiError(error) })),
    );
    return () => {
      mounted = false;
      clearTimeout(timer);
    };
  }, [key, epoch]);
  if (key === null) return IDLE;
  if (current.key === key) return current.query;
  return { state: 'loading', value: current.query.value, error: null };
}

/** The body of a response, after recording the snapshot it comes from. */
export async function readBody<T>(response: Promise<ApiResponse<T>>): Promise<T> {
  const { body, snapshot } = await response;
  recordSnapshot(snapshot);
  return body;
}
