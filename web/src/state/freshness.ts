/** Whether what is on screen is still the newest: each answer says which snapshot it came from. */

import type { Status } from '../api/answers';
import { askNow, forget } from '../api/client';
import { createStore } from './store';

export interface Freshness {
  readonly epoch: number;
  readonly drawn: string | null;
  readonly newest: string | null;
}

export const freshness = createStore<Freshness>({ epoch: 0, drawn: null, newest: null });

const EVERY = 20_000;

/** Takes note of the snapshot an answer came from. The first one on screen counts: one old part makes the whole old. */
export function noteDrawn(snapshot: string | null): void {
  if (snapshot === null) return;
  const now = freshness.get();
  freshness.set({ ...now, drawn: now.drawn ?? snapshot, newest: snapshot });
}

/** Asks everything on screen again, from the newest snapshot. */
export function refresh(): void {
  forget();
  const now = freshness.get();
  freshness.set({ epoch: now.epoch + 1, drawn: null, newest: now.newest });
}

async function look(): Promise<void> {
  if (document.hidden) return;
  const { body } = await askNow<Status>('status');
  const now = freshness.get();
  if (body.snapshot !== null) freshness.set({ ...now, newest: String(body.snapshot) });
}

/** Watches for a newer snapshot until the returned function is called. A server that is away is no news. */
export function watchFreshness(): () => void {
  const timer = setInterval(() => void look().catch(() => undefined), EVERY);
  return () => clearInterval(timer);
}

export const isOld = ({ drawn, newest }: Freshness) => drawn !== null && newest !== null && newest !== drawn;
