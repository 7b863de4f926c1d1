/** Columns and tables by name, and the one text that stands for each in keys and links. */

export interface TableRef {
  readonly namespace: string;
  readonly name: string;
}

export interface ColumnRef extends TableRef {
  readonly field: string;
}

const escaped = (part: string) => part.replace(/[%|]/g, encodeURIComponent);
const unescaped = (part: string) => part.replace(/%(25|7C)/gi, decodeURIComponent);

/** The key of a table: `namespace|name`, with `|` and `%` escaped. */
export function tableKey({ namespace, name }: TableRef): string {
  return `${escaped(namespace)}|${escaped(name)}`;
}

/** The key of a column: `namespace|name|field`. */
export function columnKey(column: ColumnRef): string {
  return `${tableKey(column)}|${escaped(column.field)}`;
}

/** The key of the table that a column key belongs to. */
export function tableOf(key: string): string {
  return key.slice(0, key.lastIndexOf('|'));
}

/** The column that a key names, or null when it names none. */
export function readColumnKey(key: string): ColumnRef | null {
  const parts = key.split('|').map(unescaped);
  const [namespace, name, field] = parts;
  if (parts.length !== 3 || namespace === undefined || name === undefined || field === undefined) return null;
  return { namespace, name, field };
}

/** The table that a key names, or null when it names none. */
export function readTableKey(key: string): TableRef | null {
  const parts = key.split('|').map(unescaped);
  const [namespace, name] = parts;
  return parts.length === 2 && namespace !== undefined && name !== undefined ? { namespace, name } : null;
}

const LAYERS = ['bronze', 'silver', 'gold', 'platinum'];

/** The last parts of a table's name that tell it apart at a glance: `silver.customers` of `/lake/silver/customers`. */
export function shortName(name: string): string {
  const parts = name.split(/[/.]/).filter(Boolean);
  const last = parts.at(-1) ?? name;
  const before = parts.at(-2);
  return before !== undefined && (parts.length === 2 || LAYERS.includes(before.toLowerCase()))
    ? `${before}.${last}`
    : last;
}
