/** One function per API query of the page, with its parameters. */
import type { ColumnRef, TableRef } from '../state/names';
import type { SchemaChange } from '../state/url';
import type * as Json from './answers';
import { fetchCached } from './client';
import { readBody } from './useQuery';

/** Rows per page of an answer; the cursor leads to the next page. */
export const ROWS_PER_PAGE = 5000;
const MAX_COLUMNS_PER_QUERY = 100;

/** A column as an API parameter. JSON, because names may contain any character. */
export function columnParameter({ namespace, name, field }: ColumnRef): string {
  return JSON.stringify([namespace, name, field]);
}

const columnParameters = (columns: readonly ColumnRef[]) =>
  columns.slice(0, MAX_COLUMNS_PER_QUERY).map(columnParameter);

export interface QueryOptions {
  readonly asOf: string | null;
  readonly indirect?: boolean;
  readonly depth?: number | null;
  readonly cursor?: string | null;
}

const optionParameters = ({ asOf, indirect, depth, cursor }: QueryOptions) => ({
  as_of: asOf,
  indirect: indirect ? true : null,
  depth: depth ?? null,
  cursor: cursor ?? null,
  limit: ROWS_PER_PAGE,
});

export const findColumns = (q: string, asOf: string | null, limit = 30) =>
  readBody(fetchCached<Json.Found>('columns', { q, as_of: asOf, limit }));

export const fetchTraversal = (side: 'up' | 'down', columns: readonly ColumnRef[], options: QueryOptions) =>
  readBody(
    fetchCached<Json.Traversal>(side === 'up' ? 'upstream' : 'downstream', {
      column: columnParameters(columns),
      ...optionParameters(options),
    }),
  );

/** The tables upstream or downstream of a table. */
export const fetchTableTraversal = (
  side: 'up' | 'down',
  { namespace, name }: TableRef,
  asOf: string | null,
) =>
  readBody(
    fetchCached<Json.TableTraversal>(side === 'up' ? 'upstream' : 'downstream', {
      column: JSON.stringify([namespace, name]),
      grain: 'table',
      indirect: true,
      as_of: asOf,
      limit: ROWS_PER_PAGE,
    }),
  );

/** What breaks if the columns are dropped or renamed, or get another type. */
export const fetchImpact = (
  columns: readonly ColumnRef[],
  change: SchemaChange,
  { asOf, depth, cursor }: QueryOptions,
) =>
  readBody(
    fetchCached<Json.Impact>('impact', {
      column: columnParameters(columns),
      change,
      as_of: asOf,
      depth,
      cursor,
      limit: ROWS_PER_PAGE,
    }),
  );

export const fetchPersonalData = (
  subject: { columns: readonly ColumnRef[]; tag: string | null },
  options: QueryOptions,
) =>
  readBody(
    fetchCached<Json.Pii>('pii', {
      column: columnParameters(subject.columns),
      tag: subject.tag,
      ...optionParameters(options),
    }),
  );

export const fetchDroppable = (column: ColumnRef, asOf: string | null) =>
  readBody(fetchCached<Json.DroppableAnswer>('droppable', { column: columnParameter(column), as_of: asOf }));

export const fetchWriters = (column: ColumnRef, asOf: string | null) =>
  readBody(fetchCached<Json.Rows<Json.Writer>>('writers', { column: columnParameter(column), as_of: asOf }));

/** Changes between two times; those of the last change without a start. */
export const fetchDiff = (from: string | null, to: string | null, cursor: string | null = null) =>
  readBody(fetchCached<Json.Diff>('diff', { from, to, limit: ROWS_PER_PAGE, cursor }));

export const fetchCoverage = (asOf: string | null, cursor: string | null = null) =>
  readBody(fetchCached<Json.Coverage>('coverage', { as_of: asOf, limit: ROWS_PER_PAGE, cursor }));

export const fetchJobs = (cursor: string | null = null) =>
  readBody(fetchCached<Json.Rows<Json.Job>>('jobs', { limit: ROWS_PER_PAGE, cursor }));

export const fetchRuns = (job: Json.JobRef | null, cursor: string | null = null) =>
  readBody(
    fetchCached<Json.Rows<Json.Run>>('runs', {
      job: job?.name ?? null,
      job_namespace: job?.namespace ?? null,
      limit: ROWS_PER_PAGE,
      cursor,
    }),
  );

/** One run by its id; null when the lake does not have it. */
export const fetchRun = async (run: string) => {
  const { rows } = await readBody(fetchCached<Json.Rows<Json.Run>>('runs', { run, limit: 1 }));
  return rows[0] ?? null;
};

export const fetchJob = ({ namespace, name }: Json.JobRef, asOf: string | null) =>
  readBody(fetchCached<Json.JobCard>('show', { kind: 'job', namespace, name, as_of: asOf }));

export const fetchQuarantine = (cursor: string | null = null) =>
  readBody(fetchCached<Json.Rows<Json.Quarantined>>('quarantine', { limit: ROWS_PER_PAGE, cursor }));

/** The state of the lake now: the endpoint has no as-of time. */
export const fetchOverview = () => readBody(fetchCached<Json.Overview>('overview', {}));

/** Number of runs without a final event. */
export const countUnfinishedRuns = async (): Promise<number | null> => {
  const answer = await readBody(fetchCached<Json.Coverage>('coverage', { kind: 'unfinished_run', limit: 1 }));
  return answer.totals.rows ?? answer.totals.gaps ?? null;
};

export const fetchDataset = ({ namespace, name }: TableRef, asOf: string | null) =>
  readBody(fetchCached<Json.Dataset>('show', { kind: 'table', namespace, name, as_of: asOf }));

export const fetchDatasets = (cursor: string | null = null) =>
  readBody(fetchCached<Json.Rows<Json.DatasetJson>>('tables', { limit: ROWS_PER_PAGE, cursor }));
