/** What is drawn of a picture that is larger than a person can read: the nearest tables, the rest as groups. */
import { countOf } from '../format/text';
import { tableKey, tableOf } from '../state/names';
import { bareColumn, type Column, type Edge, edgeKey, type Picture, pictureOf } from './lineageGraph';

export const MAX_CARDS = 300;
export const MAX_EDGES = 1500;
/** The namespace of cards that stand for many tables; no server can send it. */
export const GROUP = '\u0000group';

export interface Budgeted {
  readonly picture: Picture;
  readonly groupedTables: number;
  readonly leftEdges: number;
}

/** Tables by distance, then by key, with the distance of each. */
function byDistance(picture: Picture): [string, number][] {
  const near = new Map<string, number>();
  for (const column of picture.columns.values()) {
    const key = tableKey(column);
    const known = near.get(key);
    if (known === undefined || Math.abs(column.distance) < Math.abs(known)) near.set(key, column.distance);
  }
  return [...near].sort((a, b) => Math.abs(a[1]) - Math.abs(b[1]) || a[0].localeCompare(b[0]));
}

/** One column that stands for all tables at this distance. */
function groupColumn(distance: number, tables: number): Column {
  const hops = countOf(Math.abs(distance), 'hop');
  const way = distance < 0 ? 'upstream' : 'downstream';
  const ref = { namespace: GROUP, name: `${hops} ${way}; the list has them`, field: '*' };
  return { ...bareColumn(ref, distance), table: countOf(tables, 'further table') };
}

/** The picture with these tables put together by distance; lines inside a group vanish, others end at the group. */
function grouped(picture: Picture, far: readonly (readonly [string, number])[]): Picture {
  const sizes = new Map<number, number>();
  for (const [, distance] of far) sizes.set(distance, (sizes.get(distance) ?? 0) + 1);
  const groups = new Map([...sizes].map(([distance, size]) => [distance, groupColumn(distance, size)]));
  const homes = new Map(far.map(([table, distance]) => [table, groups.get(distance)?.key ?? '']));
  const end = (column: string) => homes.get(tableOf(column)) ?? column;
  const edges: Edge[] = [];
  for (const edge of picture.edges.values()) {
    const [from, to] = [end(edge.from), end(edge.to)];
    const moved = from !== edge.from || to !== edge.to;
    if (!moved) edges.push(edge);
    else if (from !== to) {
      edges.push({ ...edge, key: edgeKey(from, to, edge.direct), from, to, facts: edge.facts.slice(0, 1) });
    }
  }
  const columns = [...picture.columns.values()].filter((column) => !homes.has(tableKey(column)));
  return pictureOf([...columns, ...groups.values()], edges);
}

/** The part of a picture that is drawn: the nearest tables, groups of the others, and direct lines first. */
export function withinBudget(picture: Picture, maxCards = MAX_CARDS, maxEdges = MAX_EDGES): Budgeted {
  const tables = byDistance(picture);
  const far = tables.slice(maxCards);
  const { columns, edges } = far.length > 0 ? grouped(picture, far) : picture;
  const sorted = [...edges.values()].sort((a, b) => Number(b.direct) - Number(a.direct));
  const kept = sorted.slice(0, maxEdges);
  return {
    picture: { columns, edges: new Map(kept.map((edge) => [edge.key, edge])) },
    groupedTables: far.length,
    leftEdges: sorted.length - kept.length,
  };
}
