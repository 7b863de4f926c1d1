/** Detects whether the answers on screen come from the newest snapshot. Each answer names its snapshot. */

import type { Status } from '../api/answers';
import { clearCache, fetchFresh } from '../api/client';
import { createStore } from './store';

export interface Freshness {
  /** Increased by `refresh`; a new value makes every query run again. */
  readonly epoch: number;
  /** Oldest snapshot among the answers on screen. */
  readonly shown: string | null;
  readonly newest: string | null;
}

export const freshness = createStore<Freshness>({ epoch: 0, shown: null, newest: null });

const POLL_INTERVAL_MS = 20_000;

/** Records the snapshot of an answer. The first one is kept: one outdated answer makes the whole screen outdated. */
export function recordSnapshot(snapshot: string | null): void {
  if (snapshot === null) return;
  const current = freshness.get();
  freshness.set({ ...current, shown: current.shown ?? snapshot, newest: snapshot });
}

/** Runs every query on screen again, on the newest snapshot. */
export function refresh(): void {
  clearCache();
  const current = freshness.get();
  freshness.set({ epoch: current.epoch + 1, shown: null, newest: current.newest });
}

async function checkSnapshot(): Promise<void> {
  if (document.hidden) return;
  const { body } = await fetchFresh<Status>('status');
  const current = freshness.get();
  if (body.snapshot !== null) freshness.set({ ...current, newest: String(body.snapshot) });
}

/** Polls for a newer snapshot until the returned function is called. Errors of the server are ignored. */
export function pollSnapshot(): () => void {
  const timer = setInterval(() => void checkSnapshot().catch(() => undefined), POLL_INTERVAL_MS);
  return () => clearInterval(timer);
}

export const hasNewerSnapshot = ({ shown, newest }: Freshness) =>
  shown !== null && newest !== null && newest !== shown;
