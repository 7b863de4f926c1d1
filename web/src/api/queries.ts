/** One function per API query of the page, with its parameters. */
import type { ColumnRef, TableRef } from '../state/names';
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
  readBody(fetchCached<Json.Rows<Json.ColumnJson>>('columns', { q, as_of: asOf, limit }));

export const fetchTraversal = (side: 'up' | 'down', columns: readonly ColumnRef[], options: QueryOptions) =>
  readBody(
    fetchCached<Json.Traversal>(side === 'up' ? 'upstream' : 'downstream', {
      column: columnParameters(columns),
      ...optionParameters(options),
    }),
  );

export const fetchImpact = (columns: readonly ColumnRef[], { asOf, depth, cursor }: QueryOptions) =>
  readBody(
    fetchCached<Json.Traversal>('impact', {
      column: columnParameters(columns),
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
  readBody(
    fetchCached<Json.Rows<Json.Droppable>>('droppable', { column: columnParameter(column), as_of: asOf }),
  );

export const fetchWriters = (column: ColumnRef, asOf: string | null) =>
  readBody(fetchCached<Json.Rows<Json.Writer>>('writers', { column: columnParameter(column), as_of: asOf }));

export const fetchDiff = (from: string, to: string | null, cursor: string | null = null) =>
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
  readBody(fetchCached<Json.Dataset>('dataset', { namespace, name, as_of: asOf }));

export const fetchDatasets = () =>
  readBody(fetchCached<Json.Rows<Json.DatasetJson>>('datasets', { limit: ROWS_PER_PAGE }));
