import { expect, test } from 'vitest';
import { toCards } from '../src/graph/cards';
import { matchesInDrawing } from '../src/graph/findInGraph';
import { graphFromTables, toTableGraph, withTableEdges } from '../src/graph/tableGraph';
import { key, sampleGraph } from './sampleGraphs';

const GRAPH = sampleGraph(['a.x -> b.x', 'a.y -> b.y #', 'a.y ~> c.x', 'b.x -> b.z'], {
  'a.x': { layer: 'bronze', distance: -2 },
  'a.y': { distance: -1 },
});

test('edges between two tables become one direct and one indirect edge', () => {
  const { edges } = toTableGraph(GRAPH);
  expect([...edges.values()].map(({ from, to, direct, masking }) => [from, to, direct, masking])).toEqual([
    [key('a.*'), key('b.*'), true, false],
    [key('a.*'), key('c.*'), false, false],
  ]);
});

test('a table keeps its layer and its smallest distance', () => {
  const { columns } = toTableGraph(GRAPH);
  expect(columns.get(key('a.*'))).toMatchObject({ layer: 'bronze', distance: -1, field: '*' });
});

test('the cards of the table view have no rows and no footer', () => {
  const cards = toCards(toTableGraph(GRAPH), {
    tableColumns: new Map(),
    showAll: new Set(),
    filters: new Map(),
    unknownReasons: new Map(),
    namesOnly: true,
  });
  expect(cards.map(({ title, rows, height }) => [title, rows.length, height])).toEqual([
    ['b', 0, 36],
    ['c', 0, 36],
    ['a', 0, 36],
  ]);
});

test('the find field matches tables and rows, in the order of the cards', () => {
  const cards = toCards(GRAPH);
  expect(matchesInDrawing(cards, ' X ').map((match) => [match.key, match.row])).toEqual([
    [key('b.x'), 0],
    [key('c.x'), 0],
    [key('a.x'), 0],
  ]);
  expect(matchesInDrawing(cards, 'b')).toEqual([{ key: 'ns|b', table: 'ns|b', row: -1 }]);
  expect(matchesInDrawing(cards, '')).toEqual([]);
});

test('the graph of tables has one column per table and an edge for each kind of lineage', () => {
  const focus = { id: 1, namespace: 'ns', name: 'b' };
  const table = (id: number, name: string, distance: number) => ({ id, namespace: 'ns', name, distance });
  const edge = (from: number, to: number, type: 'DIRECT' | 'INDIRECT', columns: number) => ({
    from,
    to,
    type,
    columns,
    jobs: [{ namespace: 'jobs', name: 'build' }],
  });
  const graph = graphFromTables(focus, [
    {
      side: 'up',
      answer: { datasets: [table(2, 'a', 1)], edges: [edge(2, 1, 'DIRECT', 3), edge(2, 1, 'INDIRECT', 1)] },
    },
    { side: 'down', answer: { datasets: [table(3, 'c', 1)], edges: [edge(1, 3, 'DIRECT', 1)] } },
  ]);
  expect([...graph.columns.values()].map((column) => [column.key, column.distance])).toEqual([
    [key('b.*'), 0],
    [key('a.*'), -1],
    [key('c.*'), 1],
  ]);
  expect([...graph.edges.values()].map(({ from, to, facts }) => [from, to, facts[0]?.subtype])).toEqual([
    [key('a.*'), key('b.*'), '3 edges by value'],
    [key('a.*'), key('b.*'), '1 edge by condition'],
    [key('b.*'), key('c.*'), '1 edge by value'],
  ]);
});

test('the table view adds tables and their edges, so that both open in the details', () => {
  const graph = withTableEdges(GRAPH);
  expect(graph.columns.has(key('a.*')) && graph.columns.has(key('a.x'))).toBe(true);
  expect(graph.edges.size).toBe(GRAPH.edges.size + 2);
});
