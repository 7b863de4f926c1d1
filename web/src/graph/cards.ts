/** Builds the cards of a drawing: one per table, with the rows on the path and the counts of what is hidden. */
import { count } from '../format/text';
import { type TableRef, tableKey } from '../state/names';
import type { Side } from '../state/url';
import { GROUP_NAMESPACE } from './budget';
import { FOLD_NAMESPACE } from './fold';
import { CARD_WIDTH } from './layout';
import type { Column, LineageGraph } from './lineageGraph';

export const HEADER_HEIGHT = 36;
export const ROW_HEIGHT = 24;
export const FOOTER_HEIGHT = 26;
const BOTTOM_PADDING = 6;
export const FILTER_HEIGHT = 32;
/** A card with more columns than this has a filter field. */
export const MAX_ROWS_WITHOUT_FILTER = 15;
export const MAX_ROWS = 25;
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
  /** Whether the card stands for several tables. */
  readonly isGroup: boolean;
  readonly layer: string | null;
  readonly distance: number;
  readonly rows: readonly Row[];
  /** Number of columns that are not on the path and not shown; null until the table is loaded. */
  readonly otherColumns: number | null;
  /** Number of columns that do not fit on the card. */
  readonly overflow: number;
  readonly showsAllColumns: boolean;
  readonly hasFilter: boolean;
  /** Number of neighbour columns that are not drawn, by side. */
  readonly hidden: Readonly<Record<Side, number>>;
  /** Why the lineage of the table is unknown; null when it is known. */
  readonly unknownReason: string | null;
  readonly height: number;
}

export interface CardOptions {
  /** All columns of the tables that are loaded, by table key. */
  readonly tableColumns: ReadonlyMap<string, readonly Column[]>;
  /** Tables whose card shows all columns. */
  readonly showAll: ReadonlySet<string>;
  /** Filter text by table key. */
  readonly filters: ReadonlyMap<string, string>;
  /** Why a table's lineage is unknown, by its short name. */
  readonly unknownReasons: ReadonlyMap<string, string>;
  /** Everything that is loaded. The cards may show a part of it: a folded neighbour is not hidden. */
  readonly loaded?: LineageGraph | undefined;
  /** Whether the cards show only the names of the tables. */
  readonly namesOnly?: boolean;
}

export const DEFAULT_OPTIONS: CardOptions = {
  tableColumns: new Map(),
  showAll: new Set(),
  filters: new Map(),
  unknownReasons: new Map(),
};

interface DirectEdges {
  incoming: number;
  outgoing: number;
  aggregated: boolean;
  masked: boolean;
}

/** Counts the direct edges of each column, and whether one of them aggregates or masks it. */
function directEdgesByColumn(graph: LineageGraph): Map<string, DirectEdges> {
  const byColumn = new Map<string, DirectEdges>();
  const entry = (key: string) => {
    const found = byColumn.get(key) ?? { incoming: 0, outgoing: 0, aggregated: false, masked: false };
    byColumn.set(key, found);
    return found;
  };
  for (const edge of graph.edges.values()) {
    if (!edge.direct) continue;
    entry(edge.from).outgoing += 1;
    const target = entry(edge.to);
    target.incoming += 1;
    target.aggregated ||= edge.facts.some((fact) => fact.subtype === 'AGGREGATION');
    target.masked ||= edge.masking;
  }
  return byColumn;
}

const matchesFilter = (row: Row, filter: string) => row.field.toLowerCase().includes(filter.toLowerCase());

/** Completes a column with details from its table, which some answers do not contain. */
function withTableDetails(column: Column, tableColumns: readonly Column[] | undefined): Column {
  if (column.type !== null && column.layer !== null && column.up !== null) return column;
  const details = tableColumns?.find((each) => each.key === column.key);
  if (details === undefined) return column;
  return {
    ...column,
    type: column.type ?? details.type,
    layer: column.layer ?? details.layer,
    up: column.up ?? details.up,
    down: column.down ?? details.down,
    tags: column.tags.length > 0 ? column.tags : details.tags,
  };
}

function toRow(column: Column, edges: DirectEdges | undefined, onPath: boolean): Row {
  return {
    key: column.key,
    field: column.field,
    type: column.type,
    tags: column.tags,
    onPath,
    aggregated: edges?.aggregated ?? false,
    masked: (edges?.masked ?? false) || column.masked,
  };
}

const isGroupNamespace = (namespace: string) => namespace === GROUP_NAMESPACE || namespace === FOLD_NAMESPACE;

const hiddenCount = (total: number | null, drawn: number) => Math.max(0, (total ?? 0) - drawn);

/** The rows of a card: those on the path and, when the card shows all columns, the other ones. */
function selectRows(key: string, path: readonly Row[], options: CardOptions) {
  const tableColumns = options.tableColumns.get(key);
  const showsAllColumns = options.showAll.has(key) && tableColumns !== undefined;
  const onPath = new Set(path.map((row) => row.key));
  const others = (tableColumns ?? []).filter((column) => !onPath.has(column.key));
  const all = showsAllColumns ? [...path, ...others.map((column) => toRow(column, undefined, false))] : path;
  const hasFilter = all.length > MAX_ROWS_WITHOUT_FILTER;
  const filter = options.filters.get(key) ?? '';
  const matching = hasFilter ? all.filter((row) => matchesFilter(row, filter)) : all;
  const rows = matching.slice(0, MAX_ROWS);
  const otherColumns = tableColumns === undefined ? null : showsAllColumns ? 0 : others.length;
  return { rows, hasFilter, showsAllColumns, otherColumns, overflow: matching.length - rows.length };
}

/** Whether a card has a footer, which shows all columns or reports how many do not fit. */
export const hasFooter = (
  card: Pick<Card, 'isGroup' | 'showsAllColumns' | 'otherColumns' | 'overflow'>,
): boolean => !card.isGroup && (card.showsAllColumns || card.otherColumns !== 0 || card.overflow > 0);

/** The text of a card's footer. */
export function footerText(card: Card): string {
  if (card.overflow > 0) return `${count(card.overflow)} more; use the filter`;
  if (card.showsAllColumns) return 'Show path only';
  return card.otherColumns === null ? 'Show all columns' : `${count(card.otherColumns)} more`;
}

/** The content of a card that shows only the name of its table. */
const NO_ROWS = { rows: [], hasFilter: false, showsAllColumns: false, otherColumns: 0, overflow: 0 } as const;

function toCard(
  columnsOnPath: readonly Column[],
  edges: ReadonlyMap<string, DirectEdges>,
  options: CardOptions,
): Card {
  const key = tableKey(columnsOnPath[0] as Column);
  const columns = columnsOnPath.map((column) => withTableDetails(column, options.tableColumns.get(key)));
  const first = columns[0] as Column;
  const fields = columns.filter((column) => column.field !== '*');
  const path = fields.map((column) => toRow(column, edges.get(column.key), true));
  const content = options.namesOnly ? NO_ROWS : selectRows(key, path, options);
  const isGroup = isGroupNamespace(first.namespace);
  const sum = (count: (column: Column) => number) =>
    fields.reduce((total, column) => total + count(column), 0);
  const footer = hasFooter({ ...content, isGroup })
    ? FOOTER_HEIGHT
    : content.rows.length > 0
      ? BOTTOM_PADDING
      : 0;
  const filter = content.hasFilter ? FILTER_HEIGHT : 0;
  return {
    ...content,
    key,
    namespace: first.namespace,
    name: first.name,
    title: first.table,
    isGroup,
    layer: columns.find((column) => column.layer !== null)?.layer ?? null,
    distance: Math.min(...columns.map((column) => Math.abs(column.distance))),
    hidden: {
      up: sum((column) => hiddenCount(column.up, edges.get(column.key)?.incoming ?? 0)),
      down: sum((column) => hiddenCount(column.down, edges.get(column.key)?.outgoing ?? 0)),
    },
    unknownReason: options.unknownReasons.get(first.table) ?? null,
    height: HEADER_HEIGHT + filter + content.rows.length * ROW_HEIGHT + footer,
  };
}

/** One card per table, sorted by distance, then by name. */
export function toCards(graph: LineageGraph, options: CardOptions = DEFAULT_OPTIONS): Card[] {
  const tables = new Map<string, Column[]>();
  for (const column of graph.columns.values()) {
    const key = tableKey(column);
    const columns = tables.get(key);
    if (columns) columns.push(column);
    else tables.set(key, [column]);
  }
  const edges = directEdgesByColumn(options.loaded ?? graph);
  const directFirst = (a: Column, b: Column) =>
    Number(b.direct) - Number(a.direct) || a.field.localeCompare(b.field);
  const cards = [...tables.values()].map((columns) => toCard(columns.sort(directFirst), edges, options));
  return cards.sort((a, b) => a.distance - b.distance || a.name.localeCompare(b.name));
}
