/** Limits the size of a drawing: the nearest tables get their own card, the others are grouped by distance. */
import { countOf } from '../format/text';
import { tableKey, tableOf } from '../state/names';
import {
  type Column,
  columnFromName,
  createGraph,
  type Edge,
  edgeKey,
  type LineageGraph,
} from './lineageGraph';

export const MAX_CARDS = 300;
export const MAX_EDGES = 1500;
/** Namespace of the cards that represent several tables. No server sends it. */
export const GROUP_NAMESPACE = '\u0000group';

export interface DrawnPart {
  readonly graph: LineageGraph;
  readonly groupedTables: number;
  readonly omittedEdges: number;
}

/** Pairs of table key and distance, nearest first. */
function tablesByDistance(graph: LineageGraph): [string, number][] {
  const distances = new Map<string, number>();
  for (const column of graph.columns.values()) {
    const key = tableKey(column);
    const known = distances.get(key);
    if (known === undefined || Math.abs(column.distance) < Math.abs(known))
      distances.set(key, column.distance);
  }
  return [...distances].sort((a, b) => Math.abs(a[1]) - Math.abs(b[1]) || a[0].localeCompare(b[0]));
}

/** One column that represents all grouped tables at this distance. */
function groupColumn(distance: number, tables: number): Column {
  const hops = countOf(Math.abs(distance), 'hop');
  const direction = distance < 0 ? 'upstream' : 'downstream';
  const ref = { namespace: GROUP_NAMESPACE, name: `${hops} ${direction}, listed in the table`, field: '*' };
  return { ...columnFromName(ref, distance), table: `${countOf(tables, 'table')} ${hops} ${direction}` };
}

/** The graph with these tables grouped by distance. */
function groupByDistance(graph: LineageGraph, tables: readonly (readonly [string, number])[]): LineageGraph {
  const sizes = new Map<number, number>();
  for (const [, distance] of tables) sizes.set(distance, (sizes.get(distance) ?? 0) + 1);
  const groups = new Map([...sizes].map(([distance, size]) => [distance, groupColumn(distance, size)]));
  const groupOf = new Map(tables.map(([table, distance]) => [table, groups.get(distance)?.key ?? '']));
  return replaceTables(graph, groupOf, [...groups.values()]);
}

/**
 * The graph with each of these tables replaced by the column that stands for its group. Edges inside a group are
 * dropped, others end at the group.
 */
export function replaceTables(
  graph: LineageGraph,
  groupOf: ReadonlyMap<string, string>,
  groups: readonly Column[],
): LineageGraph {
  const endpoint = (column: string) => groupOf.get(tableOf(column)) ?? column;
  const edges: Edge[] = [];
  for (const edge of graph.edges.values()) {
    const [from, to] = [endpoint(edge.from), endpoint(edge.to)];
    if (from === edge.from && to === edge.to) edges.push(edge);
    else if (from !== to) {
      edges.push({ ...edge, key: edgeKey(from, to, edge.direct), from, to, facts: edge.facts.slice(0, 1) });
    }
  }
  const columns = [...graph.columns.values()].filter((column) => !groupOf.has(tableKey(column)));
  return createGraph([...columns, ...groups], edges);
}

/** The part of a graph that is drawn. Direct edges are kept before indirect ones. */
export function limitToBudget(graph: LineageGraph, maxCards = MAX_CARDS, maxEdges = MAX_EDGES): DrawnPart {
  const beyond = tablesByDistance(graph).slice(maxCards);
  const { columns, edges } = beyond.length > 0 ? groupByDistance(graph, beyond) : graph;
  const directFirst = [...edges.values()].sort((a, b) => Number(b.direct) - Number(a.direct));
  const kept = directFirst.slice(0, maxEdges);
  return {
    graph: { columns, edges: new Map(kept.map((edge) => [edge.key, edge])) },
    groupedTables: beyond.length,
    omittedEdges: directFirst.length - kept.length,
  };
}
