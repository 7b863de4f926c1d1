/** An answer that comes in pages: the first at once, the next ones on request. */
import { useState } from 'react';
import type { Answer } from './answers';
import { useAnswer, type Waiting } from './useQuery';

export interface Pages<A> {
  readonly waiting: Waiting<A>;
  /** Brings the next page; null when all is here. */
  readonly onMore: (() => void) | null;
}

/** The pages so far as one answer; `join` puts the rows of the second behind those of the first. */
export function usePages<A extends Answer>(
  key: string,
  load: (cursor: string | null) => Promise<A>,
  join: (first: A, second: A) => A,
): Pages<A> {
  const waiting = useAnswer(key, () => load(null));
  const [held, setHeld] = useState<{ of: A; now: A } | null>(null);
  const first = waiting.state === 'done' ? waiting.value : null;
  if (first === null) return { waiting, onMore: null };
  const now = held?.of === first ? held.now : first;
  const more = async () => {
    const next = await load(now.cursor);
    const joined = { ...join(now, next), left_out: next.left_out, cursor: next.cursor };
    setHeld({ of: first, now: joined });
  };
  return {
    waiting: { state: 'done', value: now, failure: null },
    onMore: now.cursor === null ? null : () => void more(),
  };
}

/** Two pages of rows. */
export function joinRows<A extends { readonly rows: readonly unknown[] }>(first: A, second: A): A {
  return { ...first, rows: [...first.rows, ...second.rows] };
}
