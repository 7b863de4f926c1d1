/** The heads of lists about the service itself: gaps, jobs, runs, quarantine. */
import type { Gap, Job, Quarantined, Run } from '../api/answers';
import { shortName } from '../state/names';
import { momentHead, nameHead, numberHead, stateHead, tookHead } from './columns';
import type { Head } from './tableModel';

export const GAP_WORDS: Readonly<Record<string, string>> = {
  no_column_lineage: 'no column lineage',
  opaque_step: 'opaque step',
  unknown_source: 'unknown source',
  unfinished_run: 'unfinished run',
  dropped_events: 'dropped events',
};

const WIDE = 'minmax(160px, 2fr)';
const ERROR = { className: 'mark-clear', limit: 80, width: 'minmax(120px, 1.6fr)' };

export const GAPS: readonly Head<Gap>[] = [
  {
    id: 'kind',
    title: 'Gap',
    width: '160px',
    cell: (row) => <span className="gap">? {GAP_WORDS[row.kind] ?? row.kind}</span>,
    text: (row) => row.kind,
  },
  nameHead('job', 'Job', (row) => row.job?.name, { width: 'minmax(140px, 1.2fr)' }),
  {
    ...nameHead<Gap>('dataset', 'Table', (row) => row.dataset && shortName(row.dataset.name), {
      width: 'minmax(140px, 1.2fr)',
    }),
    text: (row) => row.dataset?.name ?? '',
  },
  nameHead('detail', 'Detail', (row) => row.detail, { width: WIDE, limit: 80 }),
  momentHead('first', 'Since', (row) => row.first_seen),
  momentHead('last', 'Last seen', (row) => row.last_seen),
];

export const JOBS: readonly Head<Job>[] = [
  stateHead((row) => row.last_state),
  nameHead('job', 'Job', (row) => row.name, { width: 'minmax(180px, 2fr)', limit: 60 }),
  nameHead('namespace', 'Namespace', (row) => row.namespace, { className: 'muted', limit: 36, from: 900 }),
  momentHead('started', 'Last run', (row) => row.last_started),
  tookHead(
    (row) => row.last_started,
    (row) => row.last_ended,
  ),
  numberHead('runs', 'Runs', (row) => row.runs),
  nameHead('error', 'Last error', (row) => row.last_error, ERROR),
];

export const RUNS: readonly Head<Run>[] = [
  stateHead((row) => row.state),
  nameHead('run', 'Run', (row) => row.run_id, { className: 'mono', width: 'minmax(180px, 1.4fr)' }),
  momentHead('started', 'Started', (row) => row.started, { exact: true }),
  tookHead(
    (row) => row.started,
    (row) => row.ended,
  ),
  nameHead('error', 'Error', (row) => row.error, ERROR),
];

export const QUARANTINED: readonly Head<Quarantined>[] = [
  nameHead('reason', 'Reason', (row) => row.reason, { width: 'minmax(160px, 1.2fr)', limit: 60 }),
  nameHead('detail', 'Where', (row) => row.detail, { className: 'mono', width: 'minmax(140px, 1.2fr)' }),
  nameHead('line', 'Line', (row) => row.line, { className: 'mono', width: WIDE, limit: 90 }),
  nameHead('file', 'File', (row) => row.file, { className: 'mono', limit: 60, from: 1000 }),
  { ...numberHead('position', 'At', (row: Quarantined) => row.position), from: 1000 },
  momentHead('at', 'When', (row) => row.quarantined_at),
];
