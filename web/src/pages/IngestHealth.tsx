/** Whether lineage arrives: last event, rate, what is set aside, what never ended. */
import type { ReactNode } from 'react';
import type { Overview } from '../api/answers';
import { unfinishedRuns } from '../api/queries';
import { useAnswer } from '../api/useQuery';
import { count } from '../format/text';
import { Moment } from '../shell/Name';
import type { Mode } from '../state/url';
import { go } from '../state/view';
import type { Service } from './useServerStatus';

type Value = string | number | boolean | null | undefined;

const numberOf = (value: unknown) => (typeof value === 'number' ? value : null);
const textOf = (value: unknown) => (typeof value === 'string' ? value : null);

function Figure({
  title,
  children,
  bad = false,
  to,
}: {
  title: string;
  children: ReactNode;
  bad?: boolean;
  to?: Mode;
}) {
  return (
    <div className={bad ? 'health bad' : 'health'}>
      <dt>{title}</dt>
      <dd>
        {children}
        {to !== undefined && (
          <button type="button" className="link" onClick={() => go({ mode: to })}>
            show<span className="unseen"> {title}</span>
          </button>
        )}
      </dd>
    </div>
  );
}

const shown = (value: Value) => (typeof value === 'number' ? count(value) : 'not known');

function rateText(rate: number | null): string {
  return rate === null
    ? 'not known'
    : `${rate < 10 ? rate.toFixed(1) : count(Math.round(rate))} events a second`;
}

export function Health({ overview, service }: { overview: Overview; service: Service }) {
  const { health } = overview;
  const { status, rate } = service;
  const waiting = useAnswer('unfinished', unfinishedRuns);
  const receiver = status?.receiver ?? {};
  const ingest = status?.ingest ?? {};
  const quarantined = numberOf(status?.health?.quarantined) ?? numberOf(health.quarantined);
  const unfinished = waiting.value;
  const failed = numberOf(health.failed_jobs);
  const gaps = numberOf(health.gaps);
  const failure = ingest.last_state !== null && ingest.last_state !== undefined && ingest.last_state !== 'ok';
  return (
    <section className="box" aria-labelledby="health-title">
      <h2 id="health-title">State of ingest</h2>
      <dl className="healths">
        <Figure title="last event">
          <Moment at={textOf(receiver.last_event) ?? textOf(health.last)} />
        </Figure>
        <Figure title="rate">{rateText(rate)}</Figure>
        <Figure title="published">
          <Moment at={textOf(health.published) ?? overview.as_of} />
        </Figure>
        <Figure title="ingest" bad={failure}>
          {ingest.running ? 'running' : (textOf(ingest.last_state) ?? 'run from outside')}
          {failure && typeof ingest.last_message === 'string' && (
            <span className="muted"> {ingest.last_message}</span>
          )}
        </Figure>
        <Figure
          title="set aside"
          bad={(quarantined ?? 0) > 0}
          {...(quarantined ? { to: 'quarantine' as const } : {})}
        >
          {shown(quarantined)}
        </Figure>
        <Figure
          title="unfinished runs"
          bad={(unfinished ?? 0) > 0}
          {...(unfinished ? { to: 'runs' as const } : {})}
        >
          {shown(unfinished)}
        </Figure>
        <Figure title="failed jobs" bad={(failed ?? 0) > 0} {...(failed ? { to: 'runs' as const } : {})}>
          {shown(failed)}
        </Figure>
        <Figure title="gaps in lineage" bad={(gaps ?? 0) > 0} {...(gaps ? { to: 'coverage' as const } : {})}>
          {shown(gaps)}
        </Figure>
      </dl>
    </section>
  );
}
