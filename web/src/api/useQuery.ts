/** An answer that a component waits for: loading, slow, failed, or there. */
import { useEffect, useState } from 'react';
import { freshness, noteDrawn } from '../state/freshness';
import { useStore } from '../state/store';
import { type Answered, Failure } from './client';

export type Waiting<T> =
  | { readonly state: 'idle' | 'loading' | 'slow'; readonly value: T | null; readonly failure: null }
  | { readonly state: 'done'; readonly value: T; readonly failure: null }
  | { readonly state: 'failed'; readonly value: null; readonly failure: Failure };

const SLOW = 150;
const IDLE = { state: 'idle', value: null, failure: null } as const;

const asFailure = (error: unknown) =>
  error instanceof Failure
    ? error
    : new Failure('page', String(error), 'reload the page; if it stays, report it');

/**
 * What `load` brings, asked again whenever `key` or the snapshot in use changes; nothing while `key` is null.
 * The value before stays while the next is on its way, marked as loading, and is never shown as the answer to a new key.
 */
export function useAnswer<T>(key: string | null, load: () => Promise<T>): Waiting<T> {
  const epoch = useStore(freshness, (value) => value.epoch);
  const [held, setHeld] = useState<{ key: string | null; waiting: Waiting<T> }>({ key: null, waiting: IDLE });
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` says everything that `load` depends on
  useEffect(() => {
    if (key === null) {
      setHeld({ key, waiting: IDLE });
      return;
    }
    let live = true;
    const settle = (next: (old: Waiting<T>) => Waiting<T>) =>
      live && setHeld((old) => ({ key, waiting: next(old.waiting) }));
    settle((old) => ({ state: 'loading', value: old.value, failure: null }));
    const timer = setTimeout(
      () => settle((old) => (old.state === 'loading' ? { ...old, state: 'slow' } : old)),
      SLOW,
    );
    load().then(
      (value) => settle(() => ({ state: 'done', value, failure: null })),
      (error: unknown) => settle(() => ({ state: 'failed', value: null, failure: asFailure(error) })),
    );
    return () => {
      live = false;
      clearTimeout(timer);
    };
  }, [key, epoch]);
  if (held.key === key || key === null) return key === null ? IDLE : held.waiting;
  return { state: 'loading', value: held.waiting.value, failure: null };
}

/** The body of an answer, with its snapshot noted. */
export async function bodyOf<T>(answered: Promise<Answered<T>>): Promise<T> {
  const { body, snapshot } = await answered;
  noteDrawn(snapshot);
  return body;
}
