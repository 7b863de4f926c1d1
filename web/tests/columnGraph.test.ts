import { expect, test } from 'vitest';
import type { ColumnJson, EdgeJson, Walk } from '../src/api/answers';
import { type Ask, type ExploreView, explore, opened, STEP } from '../src/graph/columnGraph';
import type { ColumnRef } from '../src/state/names';
import { HOME } from '../src/state/url';

/** A graph in memory that answers like the server: s → a → t00 … t19, t00 → u. */
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

const asked: string[] = [];
const toEdge = ([from, to]: readonly [string, string]): EdgeJson => ({
  from: NAMES.indexOf(from),
  to: NAMES.indexOf(to),
  type: 'DIRECT',
});

const ask: Ask = {
  walk: async (side, columns) => {
    asked.push(`${side} ${columns.map((each) => each.name).join()}`);
    const [near, far] = side === 'up' ? ([1, 0] as const) : ([0, 1] as const);
    const edges = EDGES.filter((pair) => columns.some((each) => pair[near] === each.name));
    const rest = { question: side, as_of: null, totals: {}, left_out: 0, cursor: null };
    const answer: Walk = {
      ...rest,
      verdict: `${edges.length} ${side}`,
      of: columns.map((each: ColumnRef) => column(each.name)),
      columns: edges.map((pair) => column(pair[far], 1)),
      edges: edges.map(toEdge),
    };
    return answer;
  },
  dataset: async ({ namespace, name }) => ({ dataset: { namespace, name }, columns: [column(name)] }),
};

const VIEW: ExploreView = { ...HOME, column: 'ns|a|x' };
const tables = async (view: ExploreView) =>
  [...(await explore(view, ask)).picture.columns.values()].map((each) => each.name).sort();

test('one hop each way, at most eight tables a side', async () => {
  expect(await tables(VIEW)).toEqual(['a', 's', ...Array.from({ length: STEP }, (_, i) => `t0${i}`)]);
});

test('the column in the middle knows its neighbours, so that hidden ones are counted', async () => {
  const { picture } = await explore(VIEW, ask);
  expect(picture.columns.get('ns|a|x')?.down).toBe(20);
});

test('a click brings eight more', async () => {
  const open = opened(VIEW.open, 'ns|a', 'down', STEP);
  expect((await tables({ ...VIEW, open })).length).toBe(2 + 2 * STEP);
});

test('a card further out expands from its own rows, and lies further out', async () => {
  const open = opened(VIEW.open, 'ns|t00', 'down', 0);
  const { picture } = await explore({ ...VIEW, open }, ask);
  expect(picture.columns.get('ns|u|x')?.distance).toBe(2);
  expect([...picture.columns.values()].filter((each) => each.distance === 0)).toHaveLength(1); // the one in focus
  expect(asked.at(-1)).toBe('down t00');
});

test('what expanded cards show is said beside the verdicts of the walks, and so is what is not known there', async () => {
  const unsure: Ask = {
    ...ask,
    walk: async (side, columns, how) => ({
      ...(await ask.walk(side, columns, how)),
      unknown: [{ what: columns[0]?.name ?? '', why: 'a step that cannot be seen into' }],
    }),
  };
  const open = opened(VIEW.open, 'ns|t00', 'down', 0);
  const { verdicts, unknown } = await explore({ ...VIEW, open }, unsure);
  expect(verdicts).toEqual(['1 up', '20 down', '1 more column in 1 dataset on expanded cards']);
  expect(unknown.map((each) => each.what)).toEqual(['a', 't00']);
});

test('more tables of the walk itself are in its verdict already', async () => {
  const open = opened(VIEW.open, 'ns|a', 'down', STEP);
  expect((await explore({ ...VIEW, open }, ask)).verdicts).toEqual(['1 up', '20 down']);
});

test('one way only asks one way', async () => {
  expect(await tables({ ...VIEW, direction: 'up' })).toEqual(['a', 's']);
});

test('an expansion of a table that is not drawn changes nothing', async () => {
  const open = [{ table: 'ns|zz', side: 'up' as const, count: 8 }];
  expect(await tables({ ...VIEW, open })).toEqual(await tables(VIEW));
});

test('a link that names no column draws nothing', async () => {
  expect((await explore({ ...VIEW, column: 'nonsense' }, ask)).picture.columns.size).toBe(0);
});
