import { expect, test } from 'vitest';
import type { ColumnJson, EdgeJson, Traversal } from '../src/api/answers';
import {
  addExpansion,
  type ColumnGraphView,
  type GraphQueries,
  loadColumnGraph,
  TABLES_PER_EXPANSION,
} from '../src/graph/columnGraph';
import type { ColumnRef } from '../src/state/names';
import { HOME } from '../src/state/url';

/** An in-memory server with the graph s → a → t00 … t19, t00 → u. */
const EDGES: readonly (readonly [string, string])[] = [
  ['s', 'a'],
  ...Array.from({ length: 20 }, (_, i) => ['a', `t${String(i).padStart(2, '0')}`] as const),
  ['t00', 'u'],
];
const NAMES = [...new Set(EDGES.flat())];

const column = (name: string, distance = 0): ColumnJson => ({
  id: NAMES.indexOf(name),
  namespace: 'ns',
  name,
  field: 'x',
  label: `${name}.x`,
  up: EDGES.filter(([, to]) => to === name).length,
  down: EDGES.filter(([from]) => from === name).length,
  distance,
});

const toEdge = ([from, to]: readonly [string, string]): EdgeJson => ({
  from: NAMES.indexOf(from),
  to: NAMES.indexOf(to),
  type: 'DIRECT',
});

const requests: string[] = [];

const queries: GraphQueries = {
  traversal: async (side, columns) => {
    requests.push(`${side} ${columns.map((each) => each.name).join()}`);
    const [start, end] = side === 'up' ? ([1, 0] as const) : ([0, 1] as const);
    const edges = EDGES.filter((pair) => columns.some((each) => pair[start] === each.name));
    const answer: Traversal = {
      question: side,
      as_of: null,
      totals: {},
      left_out: 0,
      cursor: null,
      verdict: `${edges.length} ${side}`,
      of: columns.map((each: ColumnRef) => column(each.name)),
      columns: edges.map((pair) => column(pair[end], 1)),
      edges: edges.map(toEdge),
    };
    return answer;
  },
  dataset: async ({ namespace, name }) => ({ table: { namespace, name }, columns: [column(name)] }),
};

const VIEW: ColumnGraphView = { ...HOME, depth: 1, column: 'ns|a|x' };

const loadedTables = async (view: ColumnGraphView) =>
  [...(await loadColumnGraph(view, queries)).graph.columns.values()].map((each) => each.name).sort();

test('loads one hop in each direction, limited per side', async () => {
  const targets = Array.from({ length: TABLES_PER_EXPANSION }, (_, i) => `t0${i}`);
  expect(await loadedTables(VIEW)).toEqual(['a', 's', ...targets]);
});

test('the column in focus has its neighbour counts', async () => {
  const { graph } = await loadColumnGraph(VIEW, queries);
  expect(graph.columns.get('ns|a|x')?.down).toBe(20);
});

test('an expansion of the table in focus adds more tables', async () => {
  const open = addExpansion(VIEW.open, 'ns|a', 'down', TABLES_PER_EXPANSION);
  expect((await loadedTables({ ...VIEW, open })).length).toBe(2 + 2 * TABLES_PER_EXPANSION);
});

test('an expansion of another table loads the neighbours of its columns', async () => {
  const open = addExpansion(VIEW.open, 'ns|t00', 'down', 0);
  const { graph } = await loadColumnGraph({ ...VIEW, open }, queries);
  expect(graph.columns.get('ns|u|x')?.distance).toBe(2);
  const atDistanceZero = [...graph.columns.values()].filter((each) => each.distance === 0);
  expect(atDistanceZero.map((each) => each.name)).toEqual(['a']);
  expect(requests.at(-1)).toBe('down t00');
});

test('verdicts and unknown sources include those of expanded cards', async () => {
  const withUnknown: GraphQueries = {
    ...queries,
    traversal: async (side, columns, options) => ({
      ...(await queries.traversal(side, columns, options)),
      unknown: [{ what: columns[0]?.name ?? '', why: 'opaque step' }],
    }),
  };
  const open = addExpansion(VIEW.open, 'ns|t00', 'down', 0);
  const { verdicts, unknown } = await loadColumnGraph({ ...VIEW, open }, withUnknown);
  expect(verdicts).toEqual(['1 up', '20 down', '1 more column in 1 dataset on expanded cards']);
  expect(unknown.map((each) => each.what)).toEqual(['a', 't00']);
});

test('an expansion of the table in focus adds no verdict', async () => {
  const open = addExpansion(VIEW.open, 'ns|a', 'down', TABLES_PER_EXPANSION);
  expect((await loadColumnGraph({ ...VIEW, open }, queries)).verdicts).toEqual(['1 up', '20 down']);
});

test('with one direction, only that side is loaded', async () => {
  expect(await loadedTables({ ...VIEW, direction: 'up' })).toEqual(['a', 's']);
});

test('an expansion of a table that is not drawn has no effect', async () => {
  const open = [{ table: 'ns|zz', side: 'up' as const, count: 8 }];
  expect(await loadedTables({ ...VIEW, open })).toEqual(await loadedTables(VIEW));
});

test('an invalid column gives an empty graph', async () => {
  expect((await loadColumnGraph({ ...VIEW, column: 'nonsense' }, queries)).graph.columns.size).toBe(0);
});
