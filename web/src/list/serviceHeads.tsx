/** The heads of lists about the service itself: gaps, jobs, runs, quarantine. */
import type { Gap, Job, Quarantined, Run } from '../api/answers';
import { count } from '../format/text';
import { duration } from '../format/time';
import { Moment, Name } from '../frame/Name';
import { shortName } from '../state/names';
import { State } from './cells';
import type { Head } from './rows';

export const GAP_WORDS: Readonly<Record<string, string>> = {
  no_column_lineage: 'no column lineage',
  opaque_step: 'opaque step',
  unknown_source: 'unknown source',
  unfinished_run: 'unfinished run',
  dropped_events: 'dropped events',
};

export const GAPS: readonly Head<Gap>[] = [
  {
    id: 'kind',
    title: 'Gap',
    width: '160px',
    cell: (row) => <span className="gap">? {GAP_WORDS[row.kind] ?? row.kind}</span>,
    text: (row) => row.kind,
  },
  {
    id: 'job',
    title: 'Job',
    width: 'minmax(140px, 1.2fr)',
    cell: (row) => (row.job ? <Name text={row.job.name} limit={44} /> : ''),
    text: (row) => row.job?.name ?? '',
  },
  {
    id: 'dataset',
    title: 'Table',
    width: 'minmax(140px, 1.2fr)',
    cell: (row) => (row.dataset ? <Name text={shortName(row.dataset.name)} limit={44} /> : ''),
    text: (row) => row.dataset?.name ?? '',
  },
  {
    id: 'detail',
    title: 'Detail',
    width: 'minmax(160px, 2fr)',
    cell: (row) => <Name text={row.detail ?? ''} limit={80} />,
    text: (row) => row.detail ?? '',
  },
  {
    id: 'first',
    title: 'Since',
    width: '104px',
    cell: (row) => <Moment at={row.first_seen} />,
    text: (row) => row.first_seen ?? '',
  },
  {
    id: 'last',
    title: 'Last seen',
    width: '104px',
    cell: (row) => <Moment at={row.last_seen} />,
    text: (row) => row.last_seen ?? '',
  },
];

const took = (started?: string | null, ended?: string | null) =>
  started && ended ? Date.parse(ended) - Date.parse(started) : null;

export const JOBS: readonly Head<Job>[] = [
  {
    id: 'state',
    title: 'State',
    width: '112px',
    cell: (row) => <State name={row.last_state} />,
    text: (row) => row.last_state ?? '',
  },
  {
    id: 'job',
    title: 'Job',
    width: 'minmax(180px, 2fr)',
    cell: (row) => <Name text={row.name} />,
    text: (row) => row.name,
  },
  {
    id: 'namespace',
    title: 'Namespace',
    width: 'minmax(100px, 1fr)',
    cell: (row) => <Name className="muted" text={row.namespace} limit={36} />,
    text: (row) => row.namespace,
  },
  {
    id: 'started',
    title: 'Last run',
    width: '120px',
    cell: (row) => <Moment at={row.last_started} />,
    text: (row) => row.last_started ?? '',
  },
  {
    id: 'took',
    title: 'Took',
    width: '96px',
    number: true,
    cell: (row) => timeText(took(row.last_started, row.last_ended)),
    text: (row) => String(took(row.last_started, row.last_ended) ?? ''),
    order: (row) => took(row.last_started, row.last_ended),
  },
  {
    id: 'runs',
    title: 'Runs',
    width: '72px',
    number: true,
    cell: (row) => (row.runs == null ? '' : count(row.runs)),
    text: (row) => String(row.runs ?? ''),
    order: (row) => row.runs ?? null,
  },
  {
    id: 'error',
    title: 'Last error',
    width: 'minmax(120px, 1.4fr)',
    cell: (row) => (row.last_error ? <Name className="mark-clear" text={row.last_error} limit={60} /> : ''),
    text: (row) => row.last_error ?? '',
  },
];

const timeText = (milliseconds: number | null) => (milliseconds === null ? '–' : duration(milliseconds));

export const RUNS: readonly Head<Run>[] = [
  {
    id: 'state',
    title: 'State',
    width: '112px',
    cell: (row) => <State name={row.state} />,
    text: (row) => row.state,
  },
  {
    id: 'run',
    title: 'Run',
    width: 'minmax(180px, 1.4fr)',
    cell: (row) => <Name className="mono" text={row.run_id} limit={40} />,
    text: (row) => row.run_id,
  },
  {
    id: 'started',
    title: 'Started',
    width: '140px',
    cell: (row) => <Moment at={row.started} exact />,
    text: (row) => row.started ?? '',
  },
  {
    id: 'took',
    title: 'Took',
    width: '96px',
    number: true,
    cell: (row) => timeText(took(row.started, row.ended)),
    text: (row) => String(took(row.started, row.ended) ?? ''),
    order: (row) => took(row.started, row.ended),
  },
  {
    id: 'error',
    title: 'Error',
    width: 'minmax(120px, 1.6fr)',
    cell: (row) => (row.error ? <Name className="mark-clear" text={row.error} limit={80} /> : ''),
    text: (row) => row.error ?? '',
  },
];

export const QUARANTINED: readonly Head<Quarantined>[] = [
  {
    id: 'reason',
    title: 'Reason',
    width: 'minmax(160px, 1.2fr)',
    cell: (row) => <Name text={row.reason} limit={60} />,
    text: (row) => row.reason,
  },
  {
    id: 'detail',
    title: 'Where',
    width: 'minmax(100px, 0.8fr)',
    cell: (row) => <Name className="mono" text={row.detail ?? ''} limit={36} />,
    text: (row) => row.detail ?? '',
  },
  {
    id: 'line',
    title: 'Line',
    width: 'minmax(160px, 2fr)',
    cell: (row) => <Name className="mono" text={row.line ?? ''} limit={90} />,
    text: (row) => row.line ?? '',
  },
  {
    id: 'file',
    title: 'File',
    width: 'minmax(120px, 1fr)',
    cell: (row) => <Name className="mono" text={row.file ?? ''} limit={36} />,
    text: (row) => row.file ?? '',
  },
  {
    id: 'position',
    title: 'At',
    width: '64px',
    number: true,
    cell: (row) => (row.position == null ? '' : count(row.position)),
    text: (row) => String(row.position ?? ''),
    order: (row) => row.position ?? null,
  },
  {
    id: 'at',
    title: 'When',
    width: '104px',
    cell: (row) => <Moment at={row.quarantined_at} />,
    text: (row) => row.quarantined_at ?? '',
  },
];
