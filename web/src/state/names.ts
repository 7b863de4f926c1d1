/** Names of tables and columns, and the text keys that identify them in maps and links. */

export interface TableRef {
  readonly namespace: string;
  readonly name: string;
}

export interface ColumnRef extends TableRef {
  readonly field: string;
}

export interface JobRef {
  readonly namespace: string;
  readonly name: string;
}

const escapePart = (part: string) => part.replace(/[%|]/g, encodeURIComponent);
const unescapePart = (part: string) => part.replace(/%(25|7C)/gi, decodeURIComponent);

/** The key of a table: `namespace|name`, with `|` and `%` escaped. */
export function tableKey({ namespace, name }: TableRef): string {
  return `${escapePart(namespace)}|${escapePart(name)}`;
}

/** The key of a column: `namespace|name|field`. */
export function columnKey(column: ColumnRef): string {
  return `${tableKey(column)}|${escapePart(column.field)}`;
}

/** The key of the table that a column key belongs to. */
export function tableOf(key: string): string {
  return key.slice(0, key.lastIndexOf('|'));
}

/** Parses a column key; null when it is invalid. */
export function readColumnKey(key: string): ColumnRef | null {
  const parts = key.split('|').map(unescapePart);
  const [namespace, name, field] = parts;
  if (parts.length !== 3 || namespace === undefined || name === undefined || field === undefined) return null;
  return { namespace, name, field };
}

/** Parses a table key; null when it is invalid. */
export function readTableKey(key: string): TableRef | null {
  const parts = key.split('|').map(unescapePart);
  const [namespace, name] = parts;
  return parts.length === 2 && namespace !== undefined && name !== undefined ? { namespace, name } : null;
}

/** The key of a job: a JSON array of namespace and name. */
export const jobKey = ({ namespace, name }: JobRef): string => JSON.stringify([namespace, name]);

/** Parses a job key; null when it is missing or invalid. */
export function readJobKey(key: string | null): JobRef | null {
  try {
    const value: unknown = JSON.parse(key ?? 'null');
    if (Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'string') {
      return { namespace: value[0], name: value[1] };
    }
  } catch {
    return null;
  }
  return null;
}

const LAYERS = ['bronze', 'silver', 'gold', 'platinum'];

/** Short name of a table, with its layer or schema: `/lake/silver/customers` → `silver.customers`. */
export function shortName(name: string): string {
  const parts = name.split(/[/.]/).filter(Boolean);
  const last = parts.at(-1) ?? name;
  const before = parts.at(-2);
  return before !== undefined && (parts.length === 2 || LAYERS.includes(before.toLowerCase()))
    ? `${before}.${last}`
    : last;
}

/** The name of a column's table, from the column's label if there is one: `silver.orders.amount` → `silver.orders`. */
export function tableLabel({
  name,
  field,
  label,
}: ColumnRef & { readonly label?: string | undefined }): string {
  return label?.endsWith(`.${field}`) ? label.slice(0, -field.length - 1) : shortName(name);
}

/** The unique name of a table or job, as the command line accepts it: `s3://lake/gold/revenue`, `shop/daily`. */
export const fullName = ({ namespace, name }: TableRef): string =>
  `${namespace.replace(/\/$/, '')}/${name.replace(/^\//, '')}`;
