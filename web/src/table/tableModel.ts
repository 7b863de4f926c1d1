/** Model of a table: its columns, how rows are sorted, and which rows are on screen. */
import type { ReactNode } from 'react';

export interface TableColumn<Row> {
  readonly id: string;
  readonly title: string;
  /** Width as a CSS grid track. */
  readonly width: string;
  readonly isNumber?: boolean;
  /** The column is hidden in a narrower table. It is always part of the CSV file. */
  readonly minTableWidth?: number;
  /** The column is shown on a small screen before others that come first in the table. */
  readonly isEssential?: boolean;
  /** The column is hidden while it has no text in any row. */
  readonly hidesWhenEmpty?: boolean;
  /** `fitting` is the number of characters that fit into the cell. */
  readonly cell: (row: Row, fitting: number) => ReactNode;
  /** The cell as text, for CSV and, without `sortValue`, for sorting. */
  readonly text: (row: Row) => string;
  readonly sortValue?: (row: Row) => number | string | null;
}

export interface Sort {
  readonly column: string | null;
  readonly descending: boolean;
}

/** Parses the `sort` parameter: `-distance` sorts by distance, largest first. */
export function readSort(text: string | null): Sort {
  if (text === null) return { column: null, descending: false };
  return text.startsWith('-')
    ? { column: text.slice(1), descending: true }
    : { column: text, descending: false };
}

/** The `sort` parameter after a click on a column header: ascending, descending, then unsorted. */
export function nextSort(sort: Sort, column: string): string | null {
  if (sort.column !== column) return column;
  return sort.descending ? null : `-${column}`;
}

const COLLATOR = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

function compare(a: number | string | null, b: number | string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return typeof a === 'number' && typeof b === 'number' ? a - b : COLLATOR.compare(String(a), String(b));
}

/** The sorted rows, or the rows in their given order when no column is sorted. Empty cells come last. */
export function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly TableColumn<Row>[],
  sort: Sort,
): readonly Row[] {
  const column = columns.find((each) => each.id === sort.column);
  if (column === undefined) return rows;
  const value = column.sortValue ?? ((row: Row) => column.text(row) || null);
  const keyed = rows.map((row) => [value(row), row] as const);
  keyed.sort(([a], [b]) => (sort.descending && a !== null && b !== null ? compare(b, a) : compare(a, b)));
  return keyed.map(([, row]) => row);
}

const GAP_PX = 12;
const ROW_PADDING_PX = 32;

/** The smallest width of a grid track: `minmax(72px, 1fr)` → 72, `104px` → 104. */
const minTrackWidth = (track: string) => Number(/(\d+)px/.exec(track)?.[1] ?? 0);

/** The columns without those that are hidden because no row has a text for them. */
export const columnsWithContent = <Row>(
  columns: readonly TableColumn<Row>[],
  rows: readonly Row[],
): readonly TableColumn<Row>[] =>
  columns.filter((column) => !column.hidesWhenEmpty || rows.some((row) => column.text(row) !== ''));

/** The columns that a table of this width shows; all of them until the width is known, and at least one. */
export function columnsThatFit<Row>(
  columns: readonly TableColumn<Row>[],
  tableWidth: number,
): readonly TableColumn<Row>[] {
  if (tableWidth === 0) return columns;
  const kept = new Set<TableColumn<Row>>();
  let remaining = tableWidth - ROW_PADDING_PX + GAP_PX;
  const essentialFirst = [...columns].sort(
    (a, b) => Number(b.isEssential ?? false) - Number(a.isEssential ?? false),
  );
  for (const column of essentialFirst) {
    const width = minTrackWidth(column.width) + GAP_PX;
    if ((column.minTableWidth ?? 0) > tableWidth || (kept.size > 0 && width > remaining)) continue;
    remaining -= width;
    kept.add(column);
  }
  return columns.filter((column) => kept.has(column));
}

/** Width of a character that is wider than the average one, so that a truncated name rarely exceeds its cell. */
const CHARACTER_WIDTH_PX = 7.6;
/** The ellipsis is wider than other characters. */
const ELLIPSIS_PX = 6;

/** Number of characters that fit into a cell of this width; many until the width is known. */
export const fittingCharacters = (width: number | undefined) =>
  width === undefined || width === 0
    ? 200
    : Math.max(4, Math.floor((width - ELLIPSIS_PX) / CHARACTER_WIDTH_PX));

/** Rows rendered above and below the visible part. */
const OVERSCAN_ROWS = 8;

/** Index range of the rows to render: the visible ones and a few around them. */
export function visibleRows(rowCount: number, scrollTop: number, height: number, rowHeight: number) {
  const first = Math.max(0, Math.floor(scrollTop / rowHeight) - OVERSCAN_ROWS);
  const last = Math.min(rowCount, Math.ceil((scrollTop + height) / rowHeight) + OVERSCAN_ROWS);
  return { first, last };
}
