import { expect, test } from 'vitest';
import { safeFileName } from '../src/shell/download';
import { changeRows } from '../src/table/changeRows';
import { lineageRows } from '../src/table/lineageRows';
import {
  columnsThatFit,
  nextSort,
  readSort,
  sortRows,
  type TableColumn,
  visibleRows,
} from '../src/table/tableModel';
import { key, sampleGraph } from './sampleGraphs';

const COLUMNS: readonly TableColumn<{ n: number | null; t: string }>[] = [
  {
    id: 'n',
    title: '',
    width: '',
    cell: () => null,
    text: (row) => String(row.n),
    sortValue: (row) => row.n,
  },
  { id: 't', title: '', width: '', cell: () => null, text: (row) => row.t },
];
const ROWS = [
  { n: 10, t: 'col10' },
  { n: null, t: '' },
  { n: 9, t: 'col9' },
];

test.each([
  [0, ['n', 't', 'wide']],
  [500, ['n', 't']],
  [900, ['n', 't', 'wide']],
])('a table of %i px shows the columns %j', (width, ids) => {
  const wide = { id: 'wide', title: '', width: '', minTableWidth: 900, cell: () => null, text: () => '' };
  expect(columnsThatFit([...COLUMNS, wide], width).map((column) => column.id)).toEqual(ids);
});

test('a narrow table shows its essential columns, in their order', () => {
  const [n, t] = COLUMNS.map((column) => ({ ...column, width: '100px' })) as typeof COLUMNS & { length: 2 };
  const essential = { ...n, id: 'essential', isEssential: true } as (typeof COLUMNS)[number];
  const columns = [n, t, essential] as typeof COLUMNS;
  expect(columnsThatFit(columns, 260).map((column) => column.id)).toEqual(['n', 'essential']);
});

test.each([
  [null, [10, null, 9]],
  ['n', [9, 10, null]],
  ['-n', [10, 9, null]],
  ['t', [9, 10, null]],
  ['nope', [10, null, 9]],
])('sorted by %s: %j', (sort, numbers) => {
  expect(sortRows(ROWS, COLUMNS, readSort(sort)).map((row) => row.n)).toEqual(numbers);
});

test('a column header sorts ascending, descending, then resets the order', () => {
  expect(nextSort(readSort(null), 'n')).toBe('n');
  expect(nextSort(readSort('n'), 'n')).toBe('-n');
  expect(nextSort(readSort('-n'), 'n')).toBeNull();
  expect(nextSort(readSort('-n'), 't')).toBe('t');
});

test('only rows near the visible part are rendered', () => {
  expect(visibleRows(1_000_000, 15_000_000, 600, 30)).toEqual({ first: 499_992, last: 500_028 });
  expect(visibleRows(3, 0, 600, 30)).toEqual({ first: 0, last: 3 });
});

test('lineage rows list the nearest columns first, without the column in focus', () => {
  const at = { 'a.x': { distance: -1 }, 'c.x': { distance: 1 }, 'd.x': { distance: 2 } };
  const rows = lineageRows(
    sampleGraph(['a.x -> b.x', 'b.x -> c.x', 'c.x -> d.x', 'e.* ~> b.x'], at),
    key('b.x'),
  );
  expect(rows.map(({ column, fact }) => [column.name, fact?.type])).toEqual([
    ['a', 'DIRECT'],
    ['c', 'DIRECT'],
    ['d', 'DIRECT'],
  ]);
});

const source = { namespace: 'n', name: '/lake/silver/orders', field: 'total' };
const target = { namespace: 'n', name: '/lake/gold/revenue', field: 'net' };
const edge = (description: string) => ({ from: 1, to: 2, type: 'DIRECT' as const, description });

test('change rows have source, target and expression', () => {
  const [removed, changed, added] = changeRows({
    added: [{ kind: 'column', namespace: 'n', name: '/lake/gold/revenue', field: 'tax' }],
    removed: [
      { kind: 'edge', source, target, description: 'sum(total)', retired_at: '2026-11-01T00:00:00Z' },
    ],
    changed: [{ kind: 'edge', source, target, before: edge('sum(total)'), after: edge('sum(total * 2)') }],
  });
  expect([removed?.fromText, removed?.toText, removed?.at]).toEqual([
    'silver.orders.total',
    'gold.revenue.net',
    '2026-11-01T00:00:00Z',
  ]);
  expect(changed?.detail).toBe('sum(total) ⇒ sum(total * 2)');
  expect([added?.toText, added?.column]).toEqual(['gold.revenue.tax', 'n|/lake/gold/revenue|tax']);
});

test.each([
  ['gold.daily revenue/../net', 'gold.daily-revenue-..-net.csv'],
  ['<script>', 'script.csv'],
  ['...', 'lineage.csv'],
])('the file name for %s is %s', (subject, name) => expect(safeFileName(subject, 'csv')).toBe(name));
