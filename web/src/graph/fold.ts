/**
 * Folds large parts of a path into one card: the middle of a long stretch, “5 tables between”, and tables at the same
 * distance beyond the first ones, “18 more tables”.
 */
import { countOf } from '../format/text';
import { tableKey, tableOf } from '../state/names';
import { replaceTables } from './budget';
import { type Column, columnFromName, type LineageGraph } from './lineageGraph';

/** Namespace of the cards that represent the middle of a path. No server sends it. */
export const FOLD_NAMESPACE = '\u0000fold';
/** A path with more hops on one side is folded. */
export const MAX_UNFOLDED_HOPS = 4;
/** Tables at this distance or nearer are never folded. */
const MAX_HOPS_KEPT = 1;
const MIN_FOLDED_TABLES = 2;
/** With more tables at one distance, only the first ones are drawn. */
const MAX_TABLES_PER_HOP = 12;
const FIRST_TABLES_PER_HOP = 8;

interface Neighbours {
  readonly before: Set<string>;
  readonly after: Set<string>;
}

/** The smallest distance of each table's columns, without tables that are folded; upstream is negative. */
function tableDistances(graph: LineageGraph): Map<string, number> {
  const distances = new Map<string, number>();
  for (const column of graph.columns.values()) {
    if (column.namespace === FOLD_NAMESPACE) continue;
    const key = tableKey(column);
    const known = distances.get(key);
    if (known === undefined || Math.abs(column.distance) < Math.abs(known))
      distances.set(key, column.distance);
  }
  return distances;
}

function tableNeighbours(graph: LineageGraph): Map<string, Neighbours> {
  const neighbours = new Map<string, Neighbours>();
  const neighboursOf = (table: string) => {
    const known = neighbours.get(table) ?? { before: new Set(), after: new Set() };
    neighbours.set(table, known);
    return known;
  };
  for (const edge of graph.edges.values()) {
    const [from, to] = [tableOf(edge.from), tableOf(edge.to)];
    if (from === to) continue;
    neighboursOf(from).after.add(to);
    neighboursOf(to).before.add(from);
  }
  return neighbours;
}

/** The tables in the middle of a long side: neither near the focus nor at the end of a path. */
function middleTables(distances: ReadonlyMap<string, number>, neighbours: ReadonlyMap<string, Neighbours>) {
  const longest = { up: 0, down: 0 };
  for (const distance of distances.values()) {
    longest.up = Math.max(longest.up, -distance);
    longest.down = Math.max(longest.down, distance);
  }
  const isMiddle = ([table, distance]: readonly [string, number]) => {
    const side = distance < 0 ? 'up' : 'down';
    const beyond = neighbours.get(table)?.[side === 'up' ? 'before' : 'after'];
    return longest[side] > MAX_UNFOLDED_HOPS && Math.abs(distance) > MAX_HOPS_KEPT && (beyond?.size ?? 0) > 0;
  };
  return [...distances].filter(isMiddle).map(([table]) => table);
}

/** The connected groups of these tables, each sorted by name. */
function connectedGroups(tables: readonly string[], neighbours: ReadonlyMap<string, Neighbours>): string[][] {
  const remaining = new Set(tables);
  const groups: string[][] = [];
  for (const start of tables) {
    if (!remaining.delete(start)) continue;
    const group = [start];
    for (const table of group) {
      const { before = [], after = [] } = neighbours.get(table) ?? {};
      for (const next of [...before, ...after]) if (remaining.delete(next)) group.push(next);
    }
    groups.push(group.sort());
  }
  return groups;
}

function foldColumn(group: readonly string[], distances: ReadonlyMap<string, number>, what: string): Column {
  const nearest = group
    .map((table) => distances.get(table) ?? 0)
    .sort((a, b) => Math.abs(a) - Math.abs(b))[0];
  const ref = { namespace: FOLD_NAMESPACE, name: group[0] ?? '', field: '*' };
  return { ...columnFromName(ref, nearest), table: what };
}

/** The graph with each of these groups of tables as one card. */
function foldGroups(
  graph: LineageGraph,
  groups: readonly (readonly string[])[],
  distances: ReadonlyMap<string, number>,
  describe: (count: number) => string,
): LineageGraph {
  if (groups.length === 0) return graph;
  const columns = groups.map((group) => foldColumn(group, distances, describe(group.length)));
  const foldOf = new Map(
    groups.flatMap((group, index) => group.map((table) => [table, columns[index]?.key ?? ''] as const)),
  );
  return replaceTables(graph, foldOf, columns);
}

/** The graph with the middle of long paths folded, except the groups that contain one of the tables in `unfolded`. */
export function foldLongPaths(graph: LineageGraph, unfolded: ReadonlySet<string>): LineageGraph {
  const distances = tableDistances(graph);
  const neighbours = tableNeighbours(graph);
  const groups = connectedGroups(middleTables(distances, neighbours), neighbours).filter(
    (group) => group.length >= MIN_FOLDED_TABLES && !group.some((table) => unfolded.has(table)),
  );
  return foldGroups(graph, groups, distances, (count) => `${countOf(count, 'table')} between`);
}

/** The graph with at most a few tables per distance, except where one of the others is in `unfolded`. */
export function foldWideHops(graph: LineageGraph, unfolded: ReadonlySet<string>): LineageGraph {
  const distances = tableDistances(graph);
  const byDistance = new Map<number, string[]>();
  for (const [table, distance] of distances)
    byDistance.set(distance, [...(byDistance.get(distance) ?? []), table]);
  const groups = [...byDistance.values()]
    .filter((tables) => tables.length > MAX_TABLES_PER_HOP)
    .map((tables) => tables.sort().slice(FIRST_TABLES_PER_HOP))
    .filter((tables) => !tables.some((table) => unfolded.has(table)));
  return foldGroups(graph, groups, distances, (count) => countOf(count, 'more table'));
}

/** The graph that the page opens with. */
export const foldGraph = (graph: LineageGraph, unfolded: ReadonlySet<string>) =>
  foldLongPaths(foldWideHops(graph, unfolded), unfolded);
