/** The path through a column: everything that leads to it and everything it leads to. */
import type { Picture } from './lineageGraph';

export interface Path {
  readonly columns: ReadonlySet<string>;
  readonly edges: ReadonlySet<string>;
}

type Ends = ReadonlyMap<string, readonly (readonly [edge: string, other: string])[]>;

function ends(picture: Picture, near: 'from' | 'to', far: 'from' | 'to'): Ends {
  const map = new Map<string, [string, string][]>();
  for (const edge of picture.edges.values()) {
    const list = map.get(edge[near]);
    if (list) list.push([edge.key, edge[far]]);
    else map.set(edge[near], [[edge.key, edge[far]]]);
  }
  return map;
}

function walk(start: string, next: Ends, columns: Set<string>, edges: Set<string>): void {
  const seen = new Set([start]);
  const waiting = [start];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    columns.add(at);
    for (const [edge, other] of next.get(at) ?? []) {
      edges.add(edge);
      if (!seen.has(other)) {
        seen.add(other);
        waiting.push(other);
      }
    }
  }
}

/** The columns and lines on any drawn path through `pick`, a column's key or a line's; null when it is not drawn. */
export function pathThrough(picture: Picture, pick: string): Path | null {
  const columns = new Set<string>();
  const edges = new Set<string>();
  const edge = picture.edges.get(pick);
  if (edge === undefined && !picture.columns.has(pick)) return null;
  if (edge !== undefined) edges.add(pick);
  walk(edge?.from ?? pick, ends(picture, 'to', 'from'), columns, edges);
  walk(edge?.to ?? pick, ends(picture, 'from', 'to'), columns, edges);
  return { columns, edges };
}
