/** The rows of a comparison of two moments. */
import type { ChangeJson, Diff } from '../api/answers';
import { type ColumnRef, columnKey, shortName } from '../state/names';

export interface ChangeRow {
  readonly key: string;
  readonly change: 'added' | 'removed' | 'changed';
  readonly kind: string;
  readonly fromText: string;
  readonly toText: string;
  readonly detail: string;
  readonly job: string;
  readonly at: string | null;
  /** The column that a double click brings to the middle. */
  readonly column: string | null;
}

const columnText = (column: ColumnRef | undefined) =>
  column === undefined ? '' : `${shortName(column.name)}.${column.field}`;

/** The thing itself where a change is not of an edge: `silver.orders.note`, or `silver.orders`. */
function ownText({ name, field }: ChangeJson): string {
  if (name === undefined) return '';
  return field === undefined ? shortName(name) : `${shortName(name)}.${field}`;
}

function ownKey({ namespace, name, field }: ChangeJson): string | null {
  return namespace !== undefined && name !== undefined && field !== undefined
    ? columnKey({ namespace, name, field })
    : null;
}

const how = (edge: { readonly description?: string | null; readonly subtype?: string | null } | undefined) =>
  edge?.description || edge?.subtype || '';

/** `lower(email)`, or for a change `lower(email) ⇒ sha2(email)`. */
function detailOf(json: ChangeJson): string {
  return json.before && json.after ? `${how(json.before)} ⇒ ${how(json.after)}` : how(json);
}

function toRow(json: ChangeJson, change: ChangeRow['change'], index: number): ChangeRow {
  const said = json.after ?? json;
  return {
    key: `${change}-${index}`,
    change,
    kind: json.kind,
    fromText: columnText(json.source),
    toText: json.target === undefined ? ownText(json) : columnText(json.target),
    detail: detailOf(json),
    job: json.job?.name ?? said.job?.name ?? '',
    at: (change === 'removed' ? json.retired_at : null) ?? said.first_seen ?? null,
    column: json.target === undefined ? ownKey(json) : columnKey(json.target),
  };
}

/** One row a change; removed first, since that is what breaks. */
export function changeRows(diff: Pick<Diff, 'added' | 'removed' | 'changed'>): ChangeRow[] {
  return (['removed', 'changed', 'added'] as const).flatMap((change) =>
    diff[change].map((json, index) => toRow(json, change, index)),
  );
}
