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
  readonly cell: (row: Row) => ReactNode;
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

/** The columns that a table of this width shows; all of them until the width is known. */
export function columnsThatFit<Row>(
  columns: readonly TableColumn<Row>[],
  tableWidth: number,
): readonly TableColumn<Row>[] {
  return tableWidth === 0 ? columns : columns.filter((column) => (column.minTableWidth ?? 0) <= tableWidth);
}

/** Rows rendered above and below the visible part. */
const OVERSCAN_ROWS = 8;

/** Index range of the rows to render: the visible ones and a few around them. */
export function visibleRows(rowCount: number, scrollTop: number, height: number, rowHeight: number) {
  const first = Math.max(0, Math.floor(scrollTop / rowHeight) - OVERSCAN_ROWS);
  const last = Math.min(rowCount, Math.ceil((scrollTop + height) / rowHeight) + OVERSCAN_ROWS);
  return { first, last };
}
