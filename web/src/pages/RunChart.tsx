/** The last runs of a job as bars: their durations and states, oldest first. */
import type { Run } from '../api/answers';
import { duration } from '../format/time';
import { runBars, secondsOf } from './runBars';

export function RunChart({ runs, onOpen }: { runs: readonly Run[]; onOpen: (run: Run) => void }) {
  const bars = runBars(runs);
  if (bars.length < 2) return null;
  const longest = Math.max(...bars.map(({ run }) => secondsOf(run) ?? 0));
  return (
    <figure className="run-chart">
      <figcaption>
        Durations of the last {bars.length} runs, up to {duration(longest * 1000)}
      </figcaption>
      <div className="bars">
        {bars.map(({ run, state, heightPercent, label }) => (
          <button
            key={run.run_id}
            type="button"
            className={`bar ${state}`}
            tabIndex={-1}
            title={label}
            aria-label={`Run: ${label}`}
            onClick={() => onOpen(run)}
          >
            <span style={{ height: `${heightPercent}%` }} />
          </button>
        ))}
      </div>
    </figure>
  );
}
