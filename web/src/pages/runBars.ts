/** The last runs of a job as bars of a chart. */
import type { Run } from '../api/answers';
import { duration, relativeTime } from '../format/time';

const MAX_BARS = 60;
const MIN_BAR_PERCENT = 6;

/** Seconds between start and end of a run; null without an end. */
export const secondsOf = ({ started, ended, seconds }: Run): number | null => {
  if (seconds != null) return seconds;
  return started && ended ? (Date.parse(ended) - Date.parse(started)) / 1000 : null;
};

interface RunBar {
  readonly run: Run;
  readonly state: string;
  readonly heightPercent: number;
  /** `complete, 2 min, 3d`. */
  readonly label: string;
}

/** The bars of the last runs, with heights relative to the longest. A run without an end has the lowest bar. */
export function runBars(runs: readonly Run[], now: number = Date.now()): RunBar[] {
  const last = runs.slice(0, MAX_BARS).reverse();
  const longest = Math.max(0, ...last.map((run) => secondsOf(run) ?? 0));
  return last.map((run) => {
    const seconds = secondsOf(run);
    const state = (run.state ?? 'unknown').toLowerCase();
    const length = seconds === null ? 'no end' : duration(seconds * 1000);
    const percent = seconds === null || longest === 0 ? 0 : (seconds / longest) * 100;
    return {
      run,
      state,
      heightPercent: Math.max(MIN_BAR_PERCENT, Math.round(percent)),
      label: [state, length, run.started ? relativeTime(run.started, now) : null].filter(Boolean).join(', '),
    };
  });
}
