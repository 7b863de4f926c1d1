/** Table rows for a comparison of two dates. */
import type { ChangeJson, Diff } from '../api/answers';
import { type ColumnRef, columnKey, type JobRef, shortName } from '../state/names';

export interface ChangeRow {
  readonly key: string;
  readonly change: 'added' | 'removed' | 'changed';
  readonly kind: string;
  readonly fromText: string;
  readonly toText: string;
  readonly detail: string;
  readonly job: JobRef | null;
  readonly at: string | null;
  /** Key of the column that a double click opens. */
  readonly column: string | null;
}

const columnText = (column: (ColumnRef & { readonly label?: string | undefined }) | undefined) =>
  column === undefined ? '' : (column.label ?? `${shortName(column.name)}.${column.field}`);

/** Name of an added, removed or changed column or table: `silver.orders.note`, `silver.orders`. */
function objectText({ name, field }: ChangeJson): string {
  if (name === undefined) return '';
  return field === undefined ? shortName(name) : `${shortName(name)}.${field}`;
}

function objectKey({ namespace, name, field }: ChangeJson): string | null {
  return namespace !== undefined && name !== undefined && field !== undefined
    ? columnKey({ namespace, name, field })
    : null;
}

const expressionOf = (
  edge: { readonly description?: string | null; readonly subtype?: string | null } | undefined,
) => edge?.description || edge?.subtype || '';

/** `lower(email)`, or for a changed edge `lower(email) ⇒ sha2(email)`. */
function detailText(json: ChangeJson): string {
  return json.before && json.after
    ? `${expressionOf(json.before)} ⇒ ${expressionOf(json.after)}`
    : expressionOf(json);
}

function toRow(json: ChangeJson, change: ChangeRow['change'], index: number): ChangeRow {
  const edge = json.after ?? json;
  return {
    key: `${change}-${index}`,
    change,
    kind: json.kind,
    fromText: columnText(json.source),
    toText: json.target === undefined ? objectText(json) : columnText(json.target),
    detail: detailText(json),
    job: json.job ?? edge.job ?? null,
    at: (change === 'removed' ? json.retired_at : null) ?? edge.first_seen ?? null,
    column: json.target === undefined ? objectKey(json) : columnKey(json.target),
  };
}

/** One row per change. Removals come first, because they can break something. */
export function changeRows(diff: Pick<Diff, 'added' | 'removed' | 'changed'>): ChangeRow[] {
  return (['removed', 'changed', 'added'] as const).flatMap((change) =>
    diff[change].map((json, index) => toRow(json, change, index)),
  );
}
