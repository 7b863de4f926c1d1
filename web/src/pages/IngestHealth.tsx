/** Ingest status on the home page: last event, event rate, quarantine, unfinished runs, gaps. */
import type { ReactNode } from 'react';
import type { Overview, Status } from '../api/answers';
import { countUnfinishedRuns } from '../api/queries';
import { useQuery } from '../api/useQuery';
import { count } from '../format/text';
import { Timestamp } from '../shell/Timestamp';
import type { Mode } from '../state/url';
import { navigate } from '../state/view';
import type { ServerStatus } from './useServerStatus';

const toNumber = (value: unknown) => (typeof value === 'number' ? value : null);
const toText = (value: unknown) => (typeof value === 'string' ? value : null);

interface FigureProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly isProblem?: boolean;
  /** The page with the details. */
  readonly details?: Mode | undefined;
}

function Figure({ title, children, isProblem = false, details }: FigureProps) {
  return (
    <div className={isProblem ? 'health problem' : 'health'}>
      <dt>{title}</dt>
      <dd>
        {children}
        {details !== undefined && (
          <button type="button" className="link" onClick={() => navigate({ mode: details })}>
            View<span className="visually-hidden"> {title}</span>
          </button>
        )}
      </dd>
    </div>
  );
}

/** A number that should be zero, with a link to the details when it is not. */
function ProblemCount({ title, value, details }: { title: string; value: number | null; details: Mode }) {
  return (
    <Figure title={title} isProblem={(value ?? 0) > 0} details={value ? details : undefined}>
      {value === null ? 'unknown' : count(value)}
    </Figure>
  );
}

function rateText(eventsPerSecond: number | null): string {
  if (eventsPerSecond === null) return 'unknown';
  return `${eventsPerSecond < 10 ? eventsPerSecond.toFixed(1) : count(Math.round(eventsPerSecond))} events/s`;
}

function IngestState({ ingest }: { ingest: Partial<Status['ingest']> }) {
  const state = toText(ingest.last_state);
  const hasFailed = ingest.last_state != null && state !== 'ok';
  return (
    <Figure title="Ingest" isProblem={hasFailed}>
      {ingest.running ? 'running' : (state ?? 'scheduled externally')}
      {hasFailed && typeof ingest.last_message === 'string' && (
        <span className="muted"> {ingest.last_message}</span>
      )}
    </Figure>
  );
}

export function IngestHealth({ overview, server }: { overview: Overview; server: ServerStatus }) {
  const { health } = overview;
  const { status, eventsPerSecond } = server;
  const unfinishedRuns = useQuery('unfinished', countUnfinishedRuns).value;
  const quarantined = toNumber(status?.health?.quarantined) ?? toNumber(health.quarantined);
  return (
    <section className="box" aria-labelledby="health-title">
      <h2 id="health-title">Ingest status</h2>
      <dl className="health-list">
        <Figure title="Last event">
          <Timestamp at={toText(status?.receiver.last_event) ?? toText(health.last)} />
        </Figure>
        <Figure title="Event rate">{rateText(eventsPerSecond)}</Figure>
        <Figure title="Last published">
          <Timestamp at={toText(health.published) ?? overview.as_of} />
        </Figure>
        <IngestState ingest={status?.ingest ?? {}} />
        <ProblemCount title="Quarantined" value={quarantined} details="quarantine" />
        <ProblemCount title="Unfinished runs" value={unfinishedRuns} details="runs" />
        <ProblemCount title="Failed jobs" value={toNumber(health.failed_jobs)} details="runs" />
        <ProblemCount title="Lineage gaps" value={toNumber(health.gaps)} details="coverage" />
      </dl>
    </section>
  );
}
