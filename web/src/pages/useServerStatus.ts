/** The state of the service while it is looked at, and the rate of events between two looks. */
import { useEffect, useState } from 'react';
import type { Status } from '../api/answers';
import { askNow } from '../api/client';

export interface Service {
  readonly status: Status | null;
  /** Events a second since the look before; null until there were two. */
  readonly rate: number | null;
}

interface Look extends Service {
  readonly at: number;
}

const EVERY = 4000;

const acceptedOf = (status: Status | null) => {
  const accepted = status?.receiver.accepted;
  return typeof accepted === 'number' ? accepted : null;
};

/** The look that follows `before`. */
export function nextLook(before: Look, status: Status, at: number): Look {
  const [old, now] = [acceptedOf(before.status), acceptedOf(status)];
  const rate = old === null || now === null ? null : Math.max(0, now - old) / ((at - before.at) / 1000);
  return { status, rate, at };
}

export function useService(): Service {
  const [look, setLook] = useState<Look>({ status: null, rate: null, at: 0 });
  useEffect(() => {
    let live = true;
    const again = async () => {
      if (document.hidden) return;
      const answered = await askNow<Status>('status').catch(() => null);
      if (live && answered !== null) setLook((before) => nextLook(before, answered.body, performance.now()));
    };
    void again();
    const timer = setInterval(() => void again(), EVERY);
    return () => {
      live = false;
      clearInterval(timer);
    };
  }, []);
  return look;
}
