/** Columns of the tables about the service: coverage gaps, jobs, runs and quarantine. */
import type { Gap, Job, Quarantined, Run } from '../api/answers';
import {
  durationColumn,
  jobColumn,
  nameColumn,
  numberColumn,
  ownerColumn,
  stateColumn,
  tableColumn,
  timeColumn,
} from './columns';
import type { TableColumn } from './tableModel';

export const GAP_LABELS: Readonly<Record<string, string>> = {
  no_column_lineage: 'no column lineage',
  opaque_step: 'opaque step',
  unknown_source: 'unknown source',
  unfinished_run: 'unfinished run',
  dropped_events: 'dropped events',
};

const WIDE = 'minmax(160px, 2fr)';
const ERROR = {
  className: 'mark-clear',
  limit: 80,
  width: 'minmax(120px, 1.6fr)',
  truncates: 'end',
} as const;

export const GAP_COLUMNS: readonly TableColumn<Gap>[] = [
  {
    id: 'kind',
    title: 'Gap',
    width: '160px',
    cell: (row) => <span className="gap">? {GAP_LABELS[row.kind] ?? row.kind}</span>,
    text: (row) => row.kind,
  },
  jobColumn((row) => row.job, { width: 'minmax(140px, 1.2fr)' }),
  tableColumn((row) => row.dataset),
  nameColumn('detail', 'Detail', (row) => row.detail, { width: WIDE, limit: 80 }),
  timeColumn('first', 'First seen', (row) => row.first_seen),
  timeColumn('last', 'Last seen', (row) => row.last_seen),
];

export const JOB_COLUMNS: readonly TableColumn<Job>[] = [
  stateColumn((row) => row.last_state),
  jobColumn((row) => row, { width: 'minmax(180px, 2fr)' }),
  nameColumn('namespace', 'Namespace', (row) => row.namespace, {
    className: 'muted',
    limit: 36,
    minTableWidth: 900,
  }),
  { ...ownerColumn<Job>((row) => row.owner, 'minmax(168px, 1fr)'), minTableWidth: 1200 },
  timeColumn('started', 'Last run', (row) => row.last_started),
  durationColumn(
    (row) => row.last_started,
    (row) => row.last_ended,
  ),
  numberColumn('runs', 'Runs', (row) => row.runs),
  nameColumn('error', 'Last error', (row) => row.last_error, ERROR),
];

export const RUN_COLUMNS: readonly TableColumn<Run>[] = [
  stateColumn((row) => row.state),
  timeColumn('started', 'Started', (row) => row.started, { exact: true }),
  durationColumn(
    (row) => row.started,
    (row) => row.ended,
  ),
  nameColumn('run', 'Run', (row) => row.run_id, { className: 'mono', width: 'minmax(180px, 1.4fr)' }),
  nameColumn('error', 'Error', (row) => row.error, ERROR),
];

export const QUARANTINE_COLUMNS: readonly TableColumn<Quarantined>[] = [
  nameColumn('reason', 'Reason', (row) => row.reason, { width: 'minmax(160px, 1.2fr)', limit: 60 }),
  nameColumn('detail', 'Detail', (row) => row.detail, { className: 'mono', width: 'minmax(140px, 1.2fr)' }),
  nameColumn('line', 'Line', (row) => row.line, { className: 'mono', width: WIDE, limit: 90 }),
  nameColumn('file', 'File', (row) => row.file, { className: 'mono', limit: 60, minTableWidth: 1000 }),
  { ...numberColumn('position', 'Position', (row: Quarantined) => row.position), minTableWidth: 1000 },
  timeColumn('at', 'Quarantined', (row) => row.quarantined_at),
];
