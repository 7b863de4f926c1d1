/** Rows of a table: what each head shows and sorts by, and which rows are in sight. */
import type { ReactNode } from 'react';

export interface Head<Row> {
  readonly id: string;
  readonly title: string;
  readonly width: string;
  readonly number?: boolean;
  /** Left out where the list is narrower than this; a saved file has it all the same. */
  readonly from?: number;
  readonly cell: (row: Row) => ReactNode;
  /** The cell as text: what CSV holds and, unless `order` says otherwise, what it sorts by. */
  readonly text: (row: Row) => string;
  readonly order?: (row: Row) => number | string | null;
}

export interface Sort {
  readonly id: string | null;
  readonly down: boolean;
}

/** `-distance` → by distance, largest first. */
export function readSort(text: string | null): Sort {
  if (text === null) return { id: null, down: false };
  return text.startsWith('-') ? { id: text.slice(1), down: true } : { id: text, down: false };
}

/** The sort after a click on a head: up, down, as it came. */
export function nextSort(sort: Sort, id: string): string | null {
  if (sort.id !== id) return id;
  return sort.down ? null : `-${id}`;
}

const COLLATE = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

function compare(a: number | string | null, b: number | string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return typeof a === 'number' && typeof b === 'number' ? a - b : COLLATE.compare(String(a), String(b));
}

/** The rows in the order asked for; as they came when no head is sorted. Empty cells come last either way. */
export function arrange<Row>(rows: readonly Row[], heads: readonly Head<Row>[], sort: Sort): readonly Row[] {
  const head = heads.find((each) => each.id === sort.id);
  if (head === undefined) return rows;
  const value = head.order ?? ((row: Row) => head.text(row) || null);
  const keyed = rows.map((row) => [value(row), row] as const);
  keyed.sort(([a], [b]) => (sort.down && a !== null && b !== null ? compare(b, a) : compare(a, b)));
  return keyed.map(([, row]) => row);
}

/** The heads that a list so wide has room for; all of them until its width is known. */
export function roomFor<Row>(heads: readonly Head<Row>[], width: number): readonly Head<Row>[] {
  return width === 0 ? heads : heads.filter((head) => (head.from ?? 0) <= width);
}

const AROUND = 8;

/** The rows to draw: those in sight and a few around them. */
export function windowOf(count: number, top: number, height: number, row: number) {
  const first = Math.max(0, Math.floor(top / row) - AROUND);
  const last = Math.min(count, Math.ceil((top + height) / row) + AROUND);
  return { first, last };
}
