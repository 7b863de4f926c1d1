import { expect, test } from 'vitest';
import { nextRow } from '../src/graph/arrowKeys';
import { limitToBudget } from '../src/graph/budget';
import { DEFAULT_OPTIONS, HEADER_HEIGHT, ROW_HEIGHT, toCards } from '../src/graph/cards';
import { routeEdges, rowAnchors, tableLinks } from '../src/graph/edgePaths';
import { edgeMark, NO_HIGHLIGHT } from '../src/graph/highlight';
import { computeLayout } from '../src/graph/layout';
import { mergeGraphs, withoutIndirect } from '../src/graph/lineageGraph';
import { findPathThrough } from '../src/graph/path';
import { graphFromDiff, graphFromTraversal } from '../src/graph/toGraph';
import { key, sampleGraph } from './sampleGraphs';

const GRAPH = sampleGraph(['a.x -> b.x', 'a.y -> b.y', 'b.x -> c.x', 'b.y -> c.y', 'b.z ~> c.x']);

const layOutGraph = () => {
  const cards = toCards(GRAPH);
  const boxes = cards.map((card) => ({ id: card.key, height: card.height }));
  return { cards, layout: computeLayout(boxes, tableLinks(GRAPH)), edges: [...GRAPH.edges.values()] };
};

test('the path through a column contains its upstream and downstream columns', () => {
  const path = findPathThrough(GRAPH, key('b.x'));
  expect([...(path?.columns ?? [])].sort()).toEqual(['a.x', 'b.x', 'c.x'].map(key).sort());
  expect(path?.edges.size).toBe(2);
});

test('the path through an edge continues only from its two columns', () => {
  const graph = sampleGraph(['a.x -> b.x', 'a.x -> b.y', 'b.x -> c.x', 'b.y -> c.y']);
  const edge = [...graph.edges.values()].find((each) => each.to === key('b.y'));
  const path = findPathThrough(graph, edge?.key ?? '');
  expect([...(path?.columns ?? [])].sort()).toEqual(['a.x', 'b.y', 'c.y'].map(key).sort());
});

test('a path in a cycle is finite', () => {
  const cycle = sampleGraph(['a.x -> b.x', 'b.x -> a.x']);
  expect(findPathThrough(cycle, key('a.x'))?.columns.size).toBe(2);
});

test('an unknown key has no path', () => expect(findPathThrough(GRAPH, 'nope')).toBeNull());

test('cards count the hidden neighbours on each side', () => {
  const neighbours = { 'b.x': { up: 3, down: 1 }, 'a.x': { up: 0, down: 5 } };
  const cards = toCards(sampleGraph(['a.x -> b.x'], neighbours));
  const hiddenNeighbours = (name: string) => cards.find((each) => each.name === name)?.hidden;
  expect(hiddenNeighbours('b')).toEqual({ up: 2, down: 1 });
  expect(hiddenNeighbours('a')).toEqual({ up: 0, down: 4 });
});

test('a neighbour that is loaded but folded is not hidden', () => {
  const loaded = sampleGraph(['a.x -> b.x', 'a.x -> b.y', 'a.x -> c.x'], { 'a.x': { down: 4 } });
  const drawn = sampleGraph(['a.x -> b.x'], { 'a.x': { down: 4 } });
  const [first] = toCards(drawn, { ...DEFAULT_OPTIONS, loaded });
  expect(first?.hidden).toEqual({ up: 0, down: 1 });
});

test('a card counts the columns off the path and shows them on request', () => {
  const options = {
    tableColumns: new Map([['ns|a', [...sampleGraph(['a.x', 'a.p', 'a.q']).columns.values()]]]),
    showAll: new Set<string>(),
    filters: new Map(),
    unknownReasons: new Map(),
  };
  const graph = sampleGraph(['a.x -> b.x']);
  const [collapsed] = toCards(graph, options);
  expect([collapsed?.otherColumns, collapsed?.rows.length]).toEqual([2, 1]);
  const [complete] = toCards(graph, { ...options, showAll: new Set(['ns|a']) });
  expect(complete?.rows.map((row) => [row.field, row.onPath])).toEqual([
    ['x', true],
    ['p', false],
    ['q', false],
  ]);
});

test('a large card has a filter and limits its rows', () => {
  const fields = Array.from({ length: 40 }, (_, index) => `a.c${index}`);
  const options = {
    tableColumns: new Map([['ns|a', [...sampleGraph(fields).columns.values()]]]),
    showAll: new Set(['ns|a']),
    unknownReasons: new Map(),
  };
  const card = (filter: string) =>
    toCards(sampleGraph(['a.c0']), { ...options, filters: new Map([['ns|a', filter]]) })[0];
  expect([card('')?.hasFilter, card('')?.rows.length, card('')?.overflow]).toEqual([true, 25, 15]);
  expect(card('C39')?.rows.map((row) => row.field)).toEqual(['c39']);
});

test('tables beyond the budget are grouped by distance', () => {
  const distances = { 't0.x': 0, 't1.x': 1, 't2.x': 2, 't3.x': 2, 't4.x': 3, 't5.x': 3 };
  const details = Object.fromEntries(
    Object.entries(distances).map(([name, distance]) => [name, { distance }]),
  );
  const lines = [
    't0.x -> t1.x',
    't1.x -> t2.x',
    't1.x -> t3.x',
    't2.x -> t4.x',
    't3.x -> t5.x',
    't4.x -> t5.x',
  ];
  const { graph, groupedTables, omittedEdges } = limitToBudget(sampleGraph(lines, details), 3, 100);
  const tableName = (column: string) => graph.columns.get(column)?.table ?? '?';
  expect([...graph.columns.keys()].map(tableName)).toEqual([
    't0',
    't1',
    't2',
    '1 table 2 hops downstream',
    '2 tables 3 hops downstream',
  ]);
  expect([groupedTables, omittedEdges]).toEqual([3, 0]);
  const edges = [...graph.edges.values()].map((edge) => `${tableName(edge.from)} > ${tableName(edge.to)}`);
  expect(edges).toEqual([
    't0 > t1',
    't1 > t2',
    't1 > 1 table 2 hops downstream',
    't2 > 2 tables 3 hops downstream',
    '1 table 2 hops downstream > 2 tables 3 hops downstream',
  ]);
});

test('indirect edges are the first to be omitted', () => {
  const lines = ['a.x ~> b.x', 'a.x -> b.x', 'a.y -> b.y'];
  const { graph, omittedEdges } = limitToBudget(sampleGraph(lines), 300, 2);
  expect([...graph.edges.values()].map((edge) => edge.direct)).toEqual([true, true]);
  expect(omittedEdges).toBe(1);
});

test('a direct edge ends at its row, an indirect edge at the card header', () => {
  const { cards, layout } = layOutGraph();
  const paths = routeEdges(GRAPH, rowAnchors(cards, layout), layout);
  const endY = (edge: string) =>
    Number(
      paths
        .find((each) => each.edge.key === edge)
        ?.path.split(' ')
        .at(-1),
    );
  const top = layout.positions.get('ns|c')?.y ?? 0;
  expect(endY(`${key('b.x')}→${key('c.x')}`)).toBe(top + HEADER_HEIGHT + ROW_HEIGHT / 2);
  expect(endY(`${key('b.y')}→${key('c.y')}`)).toBe(top + HEADER_HEIGHT + ROW_HEIGHT * 1.5);
  expect(endY(`${key('b.z')}⇢${key('c.x')}`)).toBe(top + HEADER_HEIGHT / 2);
});

test('without indirect edges, columns that only they reach are removed', () => {
  const graph = sampleGraph(['b.x -> c.x', 'b.z ~> c.x'], { 'b.z': { direct: false } });
  expect([...withoutIndirect(graph).columns.keys()]).toEqual(['b.x', 'c.x'].map(key));
});

test('a merged edge is masked only when all its facts mask', () => {
  const clear = sampleGraph(['a.x -> b.x']);
  const masked = sampleGraph(['a.x -> b.x #']);
  const [edge] = [...mergeGraphs(masked, clear).edges.values()];
  expect(edge?.facts.map((fact) => fact.masking)).toEqual([true, false]);
  expect(edge?.masking).toBe(false);
});

const json = (id: number, name: string, distance: number) => ({
  id,
  namespace: 'ns',
  name,
  field: 'x',
  distance,
});

test('upstream columns have negative distances', () => {
  const direct = { type: 'DIRECT', subtype: 'IDENTITY' } as const;
  const edges = [
    { from: 2, to: 1, ...direct },
    { from: 9, to: 1, ...direct },
  ];
  const answer = { of: [json(1, 'focus', 0)], columns: [json(2, 'source', 1)], edges };
  const graph = graphFromTraversal(answer, 'up');
  expect([...graph.columns.values()].map(({ name, distance }) => [name, distance])).toEqual([
    ['source', -1],
    ['focus', 0],
  ]);
  expect([...graph.edges.keys()]).toEqual([`${key('source.x')}→${key('focus.x')}`]);
});

test('edges of a comparison are marked with their change', () => {
  const [source, target] = [json(1, 'a', 0), json(2, 'b', 0)];
  const graph = graphFromDiff({
    added: [{ kind: 'edge', source, target }],
    removed: [{ kind: 'column' }],
    changed: [],
  });
  const [edge] = [...graph.edges.values()];
  expect(edge?.change).toBe('added');
  expect(edge && edgeMark(edge, { ...NO_HIGHLIGHT, kind: 'changes' })).toBe('added');
});

test('a masking edge is marked as masked even when its target is clear', () => {
  const [edge] = [...sampleGraph(['a.x -> b.x #']).edges.values()];
  const columnMarks = new Map([[key('b.x'), 'clear' as const]]);
  expect(edge && edgeMark(edge, { ...NO_HIGHLIGHT, kind: 'personal', columnMarks })).toBe('masked');
});

test('arrow keys move along rows and edges', () => {
  const graph = layOutGraph();
  expect(nextRow(graph, key('b.x'), 'ArrowDown')).toBe(key('b.y'));
  expect(nextRow(graph, key('b.x'), 'ArrowUp')).toBeNull();
  expect(nextRow(graph, key('b.x'), 'ArrowRight')).toBe(key('c.x'));
  expect(nextRow(graph, key('b.y'), 'ArrowLeft')).toBe(key('a.y'));
});
