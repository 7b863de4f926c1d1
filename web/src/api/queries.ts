/** The questions the page asks, each by name, with its parameters in one place. */
import type { ColumnRef, TableRef } from '../state/names';
import type * as Json from './answers';
import { ask } from './client';
import { bodyOf } from './useQuery';

/** How many rows an answer may bring at once; the rest follows by cursor. */
export const PAGE = 5000;
const AT_ONCE = 100;

/** A column as a program names it: exactly, whatever characters it holds. */
export function columnText({ namespace, name, field }: ColumnRef): string {
  return JSON.stringify([namespace, name, field]);
}

export interface Asked {
  readonly asOf: string | null;
  readonly indirect?: boolean;
  readonly depth?: number | null;
  readonly cursor?: string | null;
}

const common = ({ asOf, indirect, depth, cursor }: Asked) => ({
  as_of: asOf,
  indirect: indirect ? true : null,
  depth: depth ?? null,
  cursor: cursor ?? null,
  limit: PAGE,
});

const texts = (columns: readonly ColumnRef[]) => columns.slice(0, AT_ONCE).map(columnText);

export const findColumns = (q: string, asOf: string | null, limit = 30) =>
  bodyOf(ask<Json.Rows<Json.ColumnJson>>('columns', { q, as_of: asOf, limit }));

export const walk = (side: 'up' | 'down', columns: readonly ColumnRef[], asked: Asked) =>
  bodyOf(
    ask<Json.Walk>(side === 'up' ? 'upstream' : 'downstream', { column: texts(columns), ...common(asked) }),
  );

export const impact = (columns: readonly ColumnRef[], { asOf, depth, cursor }: Asked) =>
  bodyOf(ask<Json.Walk>('impact', { column: texts(columns), as_of: asOf, depth, cursor, limit: PAGE }));

export const pii = (of: { columns: readonly ColumnRef[]; tag: string | null }, asked: Asked) =>
  bodyOf(ask<Json.Pii>('pii', { column: texts(of.columns), tag: of.tag, ...common(asked) }));

export const droppable = (column: ColumnRef, asOf: string | null) =>
  bodyOf(ask<Json.Rows<Json.Droppable>>('droppable', { column: columnText(column), as_of: asOf }));

export const writers = (column: ColumnRef, asOf: string | null) =>
  bodyOf(ask<Json.Rows<Json.Writer>>('writers', { column: columnText(column), as_of: asOf }));

export const diff = (from: string, to: string | null, cursor: string | null = null) =>
  bodyOf(ask<Json.Diff>('diff', { from, to, limit: PAGE, cursor }));

export const coverage = (asOf: string | null, cursor: string | null = null) =>
  bodyOf(ask<Json.Coverage>('coverage', { as_of: asOf, limit: PAGE, cursor }));

export const jobs = (cursor: string | null = null) =>
  bodyOf(ask<Json.Rows<Json.Job>>('jobs', { limit: PAGE, cursor }));

export const runs = (job: Json.JobRef | null, cursor: string | null = null) =>
  bodyOf(
    ask<Json.Rows<Json.Run>>('runs', {
      job: job?.name ?? null,
      job_namespace: job?.namespace ?? null,
      limit: PAGE,
      cursor,
    }),
  );

export const quarantine = (cursor: string | null = null) =>
  bodyOf(ask<Json.Rows<Json.Quarantined>>('quarantine', { limit: PAGE, cursor }));

export const overview = (asOf: string | null) => bodyOf(ask<Json.Overview>('overview', { as_of: asOf }));

/** How many runs never told their end. */
export const unfinishedRuns = async (): Promise<number | null> => {
  const answer = await bodyOf(ask<Json.Coverage>('coverage', { kind: 'unfinished_run', limit: 1 }));
  return answer.totals.rows ?? answer.totals.gaps ?? null;
};

export const dataset = ({ namespace, name }: TableRef, asOf: string | null) =>
  bodyOf(ask<Json.Dataset>('dataset', { namespace, name, as_of: asOf }));

/** Tables by layer; null where the server has no such list. */
export const datasets = (asOf: string | null) =>
  bodyOf(ask<Json.Rows<Json.DatasetJson>>('datasets', { as_of: asOf, limit: PAGE }));
