/** Table rows for the impact of a change: broken jobs and live readers first, then the affected columns. */
import type { Impact, JobRef } from '../api/answers';
import { columnKey } from '../state/names';
import type { LineageRow } from './lineageRows';

export type ImpactEffect = 'breaks' | 'live reader' | 'affected';

export interface ImpactRow {
  readonly key: string;
  readonly effect: ImpactEffect;
  /** Hops from the changed column; null for a reader. */
  readonly distance: number | null;
  /** The affected column; null for a job. */
  readonly column: LineageRow['column'] | null;
  /** The column that is affected or read, with its table. */
  readonly columnText: string;
  readonly job: JobRef | null;
  readonly owner: string | null;
  readonly kinds: readonly string[];
  readonly last: string | null;
}

const jobRow = (job: Impact['jobs'][number]): ImpactRow => ({
  key: JSON.stringify(['job', job.namespace, job.name]),
  effect: job.breaks ? 'breaks' : 'affected',
  distance: job.distance,
  column: null,
  columnText: '',
  job,
  owner: job.owner ?? null,
  kinds: job.kinds,
  last: job.last_started ?? null,
});

const readerRow = (reader: Impact['readers'][number]): ImpactRow => ({
  key: JSON.stringify(['reader', reader.job, reader.column, reader.use]),
  effect: 'live reader',
  distance: null,
  column: null,
  columnText: reader.column ?? '',
  job: reader.job ?? null,
  owner: reader.owner ?? null,
  kinds: reader.use ? [reader.use] : [],
  last: reader.last_read ?? null,
});

/** Jobs that break, live readers, other jobs downstream, then columns, nearest first. */
export function impactRows(
  answer: Pick<Impact, 'jobs' | 'readers' | 'columns'>,
  columns: readonly LineageRow[],
): ImpactRow[] {
  const jobs = answer.jobs.map(jobRow);
  const kinds = new Map(answer.columns.map((json) => [columnKey(json), json.kinds ?? []]));
  return [
    ...jobs.filter((row) => row.effect === 'breaks'),
    ...answer.readers.filter((reader) => reader.live !== false).map(readerRow),
    ...jobs.filter((row) => row.effect === 'affected'),
    ...columns.map(
      ({ column, fact }): ImpactRow => ({
        key: column.key,
        effect: 'affected',
        distance: column.distance,
        column,
        columnText: `${column.table}.${column.field}`,
        job: fact?.job ?? null,
        owner: null,
        kinds: kinds.get(column.key) ?? [],
        last: fact?.lastSeen ?? null,
      }),
    ),
  ];
}
