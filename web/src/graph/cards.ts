/** Cards: tables with the rows that are on the path, and what is hidden at each side. */
import { type TableRef, tableKey } from '../state/names';
import { GROUP } from './budget';
import { CARD_WIDTH } from './layout';
import type { Column, Picture } from './lineageGraph';

export const HEAD_HEIGHT = 52;
export const ROW_HEIGHT = 24;
export const FOOT_HEIGHT = 26;
const FOOT_PADDING = 6;
export const FILTER_HEIGHT = 32;
export const FILTER_FROM = 15;
export const ROWS_AT_ONCE = 25;
export { CARD_WIDTH };

export interface Row {
  readonly key: string;
  readonly field: string;
  readonly type: string | null;
  readonly tags: readonly string[];
  readonly onPath: boolean;
  readonly aggregated: boolean;
  readonly masked: boolean;
}

export interface Card extends TableRef {
  readonly key: string;
  readonly title: string;
  readonly layer: string | null;
  readonly distance: number;
  readonly rows: readonly Row[];
  /** Columns of the table that are off the path and not shown; null while the table is not known. */
  readonly more: number | null;
  /** Listed columns beyond the ones that fit. */
  readonly cut: number;
  readonly whole: boolean;
  readonly filtered: boolean;
  /** Neighbours that are not drawn, each side. */
  readonly up: number;
  readonly down: number;
  readonly why: string | null;
  readonly height: number;
}

export interface CardOptions {
  /** All columns of a table, where they are known. */
  readonly known: ReadonlyMap<string, readonly Column[]>;
  /** Tables that someone opened with “more”. */
  readonly whole: ReadonlySet<string>;
  readonly filters: ReadonlyMap<string, string>;
  /** Why a table's lineage is not known, by its short name. */
  readonly unknown: ReadonlyMap<string, string>;
}

export const NO_OPTIONS: CardOptions = {
  known: new Map(),
  whole: new Set(),
  filters: new Map(),
  unknown: new Map(),
};

interface Touch {
  ins: number;
  outs: number;
  aggregated: boolean;
  masked: boolean;
}

/** For each column, how many direct lines enter and leave it in the drawing, and what they do to it. */
function touches(picture: Picture): Map<string, Touch> {
  const map = new Map<string, Touch>();
  const of = (key: string) => {
    const known = map.get(key) ?? { ins: 0, outs: 0, aggregated: false, masked: false };
    map.set(key, known);
    return known;
  };
  for (const edge of picture.edges.values()) {
    if (!edge.direct) continue;
    of(edge.from).outs += 1;
    const target = of(edge.to);
    target.ins += 1;
    target.aggregated ||= edge.facts.some((fact) => fact.subtype === 'AGGREGATION');
    target.masked ||= edge.masking;
  }
  return map;
}

const matches = (row: Row, filter: string) => row.field.toLowerCase().includes(filter.toLowerCase());

/** A column with what its table's own answer says where the answer it came in is silent. */
function filled(column: Column, known: readonly Column[] | undefined): Column {
  if (column.type !== null && column.layer !== null && column.up !== null) return column;
  const told = known?.find((each) => each.key === column.key);
  if (told === undefined) return column;
  return {
    ...column,
    type: column.type ?? told.type,
    layer: column.layer ?? told.layer,
    up: column.up ?? told.up,
    down: column.down ?? told.down,
    tags: column.tags.length > 0 ? column.tags : told.tags,
  };
}

function toRow(column: Column, touch: Touch | undefined, onPath: boolean): Row {
  return {
    key: column.key,
    field: column.field,
    type: column.type,
    tags: column.tags,
    onPath,
    aggregated: touch?.aggregated ?? false,
    masked: (touch?.masked ?? false) || column.masked,
  };
}

const hidden = (known: number | null, drawn: number) => Math.max(0, (known ?? 0) - drawn);

/** The rows of a card: those on the path, then, when it is open, the table's other columns. */
function rowsOf(key: string, path: readonly Row[], options: CardOptions) {
  const known = options.known.get(key);
  const whole = options.whole.has(key) && known !== undefined;
  const onPath = new Set(path.map((row) => row.key));
  const others = (known ?? []).filter((column) => !onPath.has(column.key));
  const listed = whole ? [...path, ...others.map((column) => toRow(column, undefined, false))] : path;
  const filtered = listed.length > FILTER_FROM;
  const filter = options.filters.get(key) ?? '';
  const shown = filtered ? listed.filter((row) => matches(row, filter)) : listed;
  const rows = shown.slice(0, ROWS_AT_ONCE);
  const more = known === undefined ? null : whole ? 0 : others.length;
  return { rows, filtered, whole, more, cut: shown.length - rows.length };
}

/** Whether a card has a line under its rows: to open the whole table, or to say what does not fit. */
export const hasFoot = (card: Pick<Card, 'whole' | 'more' | 'cut'> & { readonly namespace: string }) =>
  card.namespace !== GROUP && (card.whole || card.more !== 0 || card.cut > 0);

function toCard(bare: readonly Column[], touched: ReadonlyMap<string, Touch>, options: CardOptions): Card {
  const key = tableKey(bare[0] as Column);
  const columns = bare.map((column) => filled(column, options.known.get(key)));
  const first = columns[0] as Column;
  const fields = columns.filter((column) => column.field !== '*');
  const path = fields.map((column) => toRow(column, touched.get(column.key), true));
  const part = rowsOf(key, path, options);
  const sum = (count: (column: Column) => number) =>
    fields.reduce((total, column) => total + count(column), 0);
  const foot = hasFoot({ ...part, namespace: first.namespace }) ? FOOT_HEIGHT : FOOT_PADDING;
  return {
    ...part,
    key,
    namespace: first.namespace,
    name: first.name,
    title: first.table,
    layer: columns.find((column) => column.layer !== null)?.layer ?? null,
    distance: Math.min(...columns.map((column) => Math.abs(column.distance))),
    up: sum((column) => hidden(column.up, touched.get(column.key)?.ins ?? 0)),
    down: sum((column) => hidden(column.down, touched.get(column.key)?.outs ?? 0)),
    why: options.unknown.get(first.table) ?? null,
    height: HEAD_HEIGHT + (part.filtered ? FILTER_HEIGHT : 0) + part.rows.length * ROW_HEIGHT + foot,
  };
}

/** One card a table, nearest first, then by name. */
export function toCards(picture: Picture, options: CardOptions = NO_OPTIONS): Card[] {
  const tables = new Map<string, Column[]>();
  for (const column of picture.columns.values()) {
    const key = tableKey(column);
    const list = tables.get(key);
    if (list) list.push(column);
    else tables.set(key, [column]);
  }
  const touched = touches(picture);
  const byField = (a: Column, b: Column) =>
    Number(b.direct) - Number(a.direct) || a.field.localeCompare(b.field);
  const cards = [...tables.values()].map((list) => toCard(list.sort(byField), touched, options));
  return cards.sort((a, b) => a.distance - b.distance || a.name.localeCompare(b.name));
}
