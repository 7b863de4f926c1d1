import { expect, test } from 'vitest';
import { FOLD_NAMESPACE, foldLongPaths, foldWideHops } from '../src/graph/fold';
import type { LineageGraph } from '../src/graph/lineageGraph';
import { key, sampleGraph } from './sampleGraphs';

/** The chain a → b → … → focus, with distances from the focus. */
function chain(tables: string): LineageGraph {
  const names = [...tables];
  const lines = names.slice(1).map((name, index) => `${names[index]}.x -> ${name}.x`);
  const distances = Object.fromEntries(
    names.map((name, index) => [`${name}.x`, { distance: index + 1 - names.length }]),
  );
  return sampleGraph(lines, distances);
}

const tables = (graph: LineageGraph) => [...graph.columns.values()].map((column) => column.table).sort();

test('a path of four hops is not folded', () => {
  const graph = chain('abcde');
  expect(foldLongPaths(graph, new Set())).toBe(graph);
});

test('the middle of a long path becomes one card between its neighbours', () => {
  const folded = foldLongPaths(chain('abcdefgh'), new Set());
  expect(tables(folded)).toEqual(['5 tables between', 'a', 'g', 'h']);
  const fold = [...folded.columns.values()].find((column) => column.namespace === FOLD_NAMESPACE);
  const ends = [...folded.edges.values()].map((edge) => [edge.from, edge.to]);
  expect(ends).toEqual([
    [key('a.x'), fold?.key],
    [fold?.key, key('g.x')],
    [key('g.x'), key('h.x')],
  ]);
});

test('a group with a requested table is not folded', () => {
  const graph = chain('abcdefgh');
  expect(foldLongPaths(graph, new Set(['ns|d']))).toBe(graph);
});

test('two branches that do not meet are folded separately', () => {
  const distances = (names: string, sign: number) =>
    [...names].map((name, index) => [`${name}.x`, { distance: sign * (index + 1) }]);
  const lines = ['abcdef', 'uvwxyz'].flatMap((branch) =>
    [...`o${branch}`].slice(1).map((name, index) => `${`o${branch}`[index]}.x -> ${name}.x`),
  );
  const details = Object.fromEntries([...distances('abcdef', 1), ...distances('uvwxyz', 1)]);
  const folded = foldLongPaths(sampleGraph(lines, details), new Set());
  expect(tables(folded)).toEqual(['4 tables between', '4 tables between', 'a', 'f', 'o', 'u', 'z']);
});

test('only the first tables of a wide hop are drawn', () => {
  const lines = Array.from({ length: 20 }, (_, index) => `a.x -> t${String(index).padStart(2, '0')}.x`);
  const details = Object.fromEntries(lines.map((line) => [line.slice(7), { distance: 1 }]));
  const graph = sampleGraph(lines, details);
  const folded = foldWideHops(graph, new Set());
  expect(tables(folded)).toEqual(['12 more tables', 'a', ...tables(graph).slice(1, 9)]);
  expect(folded.edges.size).toBe(9);
  expect(foldWideHops(graph, new Set(['ns|t19']))).toBe(graph);
});
