/** The path through a column: all its upstream and downstream columns in the drawing, and the edges between. */
import type { Card } from './cards';
import type { LineageGraph } from './lineageGraph';

export interface Path {
  readonly columns: ReadonlySet<string>;
  readonly edges: ReadonlySet<string>;
}

/** Whether a card is on the path. A card without rows is one column of the path, whose field is `*`. */
export const isOnPath = (card: Pick<Card, 'key' | 'rows'>, path: Path) =>
  path.columns.has(`${card.key}|*`) || card.rows.some((row) => path.columns.has(row.key));

type Adjacency = ReadonlyMap<string, readonly (readonly [edge: string, neighbour: string])[]>;

function adjacency(graph: LineageGraph, from: 'from' | 'to', to: 'from' | 'to'): Adjacency {
  const neighbours = new Map<string, [string, string][]>();
  for (const edge of graph.edges.values()) {
    const known = neighbours.get(edge[from]);
    if (known) known.push([edge.key, edge[to]]);
    else neighbours.set(edge[from], [[edge.key, edge[to]]]);
  }
  return neighbours;
}

/** Adds everything that can be reached from `start` to `columns` and `edges`. */
function collectReachable(start: string, next: Adjacency, columns: Set<string>, edges: Set<string>): void {
  const visited = new Set([start]);
  const stack = [start];
  for (let column = stack.pop(); column !== undefined; column = stack.pop()) {
    columns.add(column);
    for (const [edge, neighbour] of next.get(column) ?? []) {
      edges.add(edge);
      if (!visited.has(neighbour)) {
        visited.add(neighbour);
        stack.push(neighbour);
      }
    }
  }
}

/** The path through the column or edge with this key; null when the graph does not contain it. */
export function findPathThrough(graph: LineageGraph, key: string): Path | null {
  const columns = new Set<string>();
  const edges = new Set<string>();
  const edge = graph.edges.get(key);
  if (edge === undefined && !graph.columns.has(key)) return null;
  if (edge !== undefined) edges.add(key);
  collectReachable(edge?.from ?? key, adjacency(graph, 'to', 'from'), columns, edges);
  collectReachable(edge?.to ?? key, adjacency(graph, 'from', 'to'), columns, edges);
  return { columns, edges };
}
