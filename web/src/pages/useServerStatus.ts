/** Polls the status of the server and computes the rate of incoming events. */
import { useEffect, useState } from 'react';
import type { Status } from '../api/answers';
import { fetchFresh } from '../api/client';

export interface ServerStatus {
  readonly status: Status | null;
  /** Events per second since the previous poll; null after the first one. */
  readonly eventsPerSecond: number | null;
}

interface Poll extends ServerStatus {
  /** Time of the poll in milliseconds. */
  readonly at: number;
}

const POLL_INTERVAL_MS = 4000;

const acceptedEvents = (status: Status | null) => {
  const accepted = status?.receiver.accepted;
  return typeof accepted === 'number' ? accepted : null;
};

/** The poll that follows `previous`, with the rate of events between the two. */
export function nextPoll(previous: Poll, status: Status, at: number): Poll {
  const [before, now] = [acceptedEvents(previous.status), acceptedEvents(status)];
  const seconds = (at - previous.at) / 1000;
  const eventsPerSecond = before === null || now === null ? null : Math.max(0, now - before) / seconds;
  return { status, eventsPerSecond, at };
}

export function useServerStatus(): ServerStatus {
  const [latest, setLatest] = useState<Poll>({ status: null, eventsPerSecond: null, at: 0 });
  useEffect(() => {
    let mounted = true;
    const poll = async () => {
      if (document.hidden) return;
      const response = await fetchFresh<Status>('status').catch(() => null);
      if (mounted && response !== null)
        setLatest((previous) => nextPoll(previous, response.body, performance.now()));
    };
    void poll();
    const timer = setInterval(() => void poll(), POLL_INTERVAL_MS);
    return () => {
      mounted = false;
      clearInterval(timer);
    };
  }, []);
  return latest;
}
