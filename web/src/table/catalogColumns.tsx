/** Columns of the tables about tables: their list, and the parts of the page of one of them. */
import type { DatasetJson, SchemaColumn, SchemaVersion } from '../api/answers';
import { distanceText } from '../graph/labels';
import {
  jobColumn,
  layerColumn,
  nameColumn,
  numberColumn,
  ownerColumn,
  tableColumn,
  tagsColumn,
  textColumn,
  timeColumn,
} from './columns';
import type { TableJob } from './tableJobs';
import type { TableColumn } from './tableModel';

export const TABLE_COLUMNS: readonly TableColumn<DatasetJson>[] = [
  { ...tableColumn((row: DatasetJson) => row), width: 'minmax(180px, 2fr)' },
  layerColumn((row) => row.layer),
  {
    ...textColumn<DatasetJson>('kind', 'Kind', (row) => row.kind?.toLowerCase(), '80px'),
    minTableWidth: 700,
  },
  numberColumn('columns', 'Columns', (row) => row.columns),
  {
    ...numberColumn<DatasetJson>('upstream', 'Upstream', (row) => row.upstream),
    width: '80px',
    minTableWidth: 700,
  },
  {
    ...numberColumn<DatasetJson>('downstream', 'Downstream', (row) => row.downstream),
    width: '96px',
    minTableWidth: 700,
  },
  ownerColumn((row) => row.owner, 'minmax(168px, 1fr)'),
  timeColumn('written', 'Written', (row) => row.last_written),
  timeColumn('read', 'Read', (row) => row.last_read),
];

export const SCHEMA_COLUMNS: readonly TableColumn<SchemaColumn>[] = [
  nameColumn('column', 'Column', (row) => row.field, { className: 'mono', width: 'minmax(120px, 1.2fr)' }),
  nameColumn('type', 'Type', (row) => row.type, { className: 'mono muted', width: 'minmax(80px, 0.8fr)' }),
  tagsColumn((row) => row.tags),
  {
    ...nameColumn<SchemaColumn>('description', 'Description', (row) => row.description, {
      width: 'minmax(120px, 2fr)',
      limit: 200,
    }),
    minTableWidth: 560,
  },
  { ...numberColumn('upstream', 'Upstream', (row: SchemaColumn) => row.up), width: '80px' },
  {
    ...numberColumn('up_conditions', 'Decided by', (row: SchemaColumn) => row.up_conditions),
    width: '96px',
    minTableWidth: 700,
  },
  { ...numberColumn('downstream', 'Downstream', (row: SchemaColumn) => row.down), width: '96px' },
  {
    ...numberColumn('down_conditions', 'Decides', (row: SchemaColumn) => row.down_conditions),
    width: '96px',
    minTableWidth: 700,
  },
];

const usesText = (row: TableJob) => row.uses.map((use) => use.replaceAll('_', ' ')).join(', ');

export const TABLE_JOB_COLUMNS: readonly TableColumn<TableJob>[] = [
  textColumn('role', 'Role', (row) => row.role, '112px'),
  jobColumn((row) => row.job, { width: 'minmax(140px, 1.6fr)' }),
  ownerColumn((row) => row.owner, 'minmax(168px, 1fr)'),
  nameColumn('uses', 'Used as', usesText, { limit: 60, minTableWidth: 700 }),
  numberColumn('columns', 'Columns', (row) => row.columns),
  {
    ...textColumn<TableJob>('state', 'Last run', (row) => row.state?.toLowerCase(), '96px'),
    minTableWidth: 700,
  },
  timeColumn('last', 'Last', (row) => row.last),
];

export const SCHEMA_VERSION_COLUMNS: readonly TableColumn<SchemaVersion>[] = [
  timeColumn('first', 'First seen', (row) => row.first_seen, { exact: true }),
  timeColumn('last', 'Last seen', (row) => row.last_seen, { exact: true }),
  numberColumn('columns', 'Columns', (row) => row.columns),
  nameColumn('added', 'Added', (row) => row.added.join(', '), { limit: 200 }),
  nameColumn('removed', 'Removed', (row) => row.removed.join(', '), { limit: 200 }),
  nameColumn('changed', 'Changed', (row) => row.changed.join(', '), { limit: 200 }),
];

/** A table upstream (negative distance) or downstream of another one. */
export type ReachedTable = DatasetJson & { readonly distance: number };

export const REACHED_TABLE_COLUMNS: readonly TableColumn<ReachedTable>[] = [
  {
    id: 'distance',
    title: 'Hops',
    width: '44px',
    cell: ({ distance }) => <span className="hops">{distanceText(distance)}</span>,
    text: ({ distance }) => String(distance),
    sortValue: ({ distance }) => distance,
  },
  tableColumn((row) => row),
  layerColumn((row) => row.layer),
  ownerColumn((row) => row.owner, 'minmax(168px, 1fr)'),
  numberColumn('columns', 'Columns', (row) => row.columns),
  timeColumn('written', 'Written', (row) => row.last_written),
];
