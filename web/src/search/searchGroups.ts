/** Search results in groups of tables, jobs and columns. The group with an exact match is first. */
import type { ColumnJson, DatasetJson, Found, Job } from '../api/answers';
import { columnKey, jobKey, shortName, tableKey } from '../state/names';

export type SearchResult =
  | { readonly kind: 'column'; readonly key: string; readonly row: ColumnJson }
  | { readonly kind: 'table'; readonly key: string; readonly row: DatasetJson }
  | { readonly kind: 'job'; readonly key: string; readonly row: Job };

export interface SearchGroup {
  readonly title: string;
  readonly results: readonly SearchResult[];
  /** Number of matches that are not listed. */
  readonly leftOut: number;
}

/** Tables and jobs listed above or below the columns. */
const MAX_TABLES_AND_JOBS = 6;

const isSame = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();

/** Whether `text` is the name of the table, with or without its layer. */
function isTableName(text: string, { name, label = shortName(name) }: DatasetJson): boolean {
  return isSame(label, text) || isSame(label.slice(label.lastIndexOf('.') + 1), text) || isSame(name, text);
}

const isExactColumn = ({ match, field }: ColumnJson, text: string) =>
  match === 'exact' || isSame(field, text);

/** The groups with at least one result. A table or job with exactly this name comes before columns. */
export function searchGroups(text: string, found: Found): readonly SearchGroup[] {
  const columns: SearchGroup = {
    title: 'Columns',
    results: found.rows.map((row) => ({ kind: 'column', key: columnKey(row), row })),
    leftOut: found.left_out,
  };
  const tables: SearchGroup = {
    title: 'Tables',
    results: found.tables
      .slice(0, MAX_TABLES_AND_JOBS)
      .map((row) => ({ kind: 'table', key: tableKey(row), row })),
    leftOut: (found.totals.tables ?? 0) - Math.min(found.tables.length, MAX_TABLES_AND_JOBS),
  };
  const jobs: SearchGroup = {
    title: 'Jobs',
    results: found.jobs.slice(0, MAX_TABLES_AND_JOBS).map((row) => ({ kind: 'job', key: jobKey(row), row })),
    leftOut: (found.totals.jobs ?? 0) - Math.min(found.jobs.length, MAX_TABLES_AND_JOBS),
  };
  const hasColumn = found.rows.some((row) => isExactColumn(row, text));
  const isFirst = (group: SearchGroup) =>
    !hasColumn &&
    group.results.some(
      (result) =>
        (result.kind === 'table' && isTableName(text, result.row)) ||
        (result.kind === 'job' && isSame(result.row.name, text)),
    );
  const groups = [columns, tables, jobs].filter((group) => group.results.length > 0);
  return [...groups.filter(isFirst), ...groups.filter((group) => !isFirst(group))];
}
