/** The SVG path of each edge, between the rows of two cards. */
import { tableOf } from '../state/names';
import { CARD_WIDTH, type Card, FILTER_HEIGHT, HEADER_HEIGHT, ROW_HEIGHT } from './cards';
import { type Layout, type Link, linkKey, type Point } from './layout';
import type { Edge, LineageGraph } from './lineageGraph';

export interface EdgePath {
  readonly key: string;
  readonly edge: Edge;
  /** The `d` attribute of an SVG path. */
  readonly path: string;
  /** Where a symbol on the edge is drawn. */
  readonly middle: Point;
}

export interface Anchors {
  /** Height of a column's row below the top of its card; that of the header when the row is not shown. */
  readonly rowOffset: (column: string) => number;
  readonly position: (table: string) => Point | undefined;
}

const HEADER_MIDDLE = HEADER_HEIGHT / 2;
const LANE_MIDDLE = 4;

/** The points where edges meet the rows of the cards. */
export function rowAnchors(cards: readonly Card[], layout: Layout): Anchors {
  const offsets = new Map<string, number>();
  for (const card of cards) {
    const top = HEADER_HEIGHT + (card.hasFilter ? FILTER_HEIGHT : 0);
    card.rows.forEach((row, index) => {
      offsets.set(row.key, top + index * ROW_HEIGHT + ROW_HEIGHT / 2);
    });
  }
  return {
    rowOffset: (key) => offsets.get(key) ?? HEADER_MIDDLE,
    position: (table) => layout.positions.get(table),
  };
}

/** The links between tables that follow from the edges between their columns, without duplicates. */
export function tableLinks(graph: LineageGraph): Link[] {
  const links = new Map<string, Link>();
  for (const edge of graph.edges.values()) {
    const link = { from: tableOf(edge.from), to: tableOf(edge.to) };
    links.set(linkKey(link.from, link.to), link);
  }
  return [...links.values()];
}

function curve(from: Point, to: Point): string {
  const reach = Math.max(32, Math.abs(to.x - from.x) / 2);
  return `C${from.x + reach} ${from.y} ${to.x - reach} ${to.y} ${to.x} ${to.y}`;
}

function loop(from: Point, to: Point): string {
  const bottom = Math.max(from.y, to.y) + 40;
  const middle = (from.x + to.x) / 2;
  return (
    `C${from.x + 56} ${from.y} ${from.x + 56} ${bottom} ${middle} ${bottom}` +
    `S${to.x - 56} ${to.y} ${to.x} ${to.y}`
  );
}

/** The path from one point to another along the lanes between them. A path that leads left is a loop. */
function route(from: Point, to: Point, lanes: readonly Point[]): string {
  if (to.x <= from.x) return `M${from.x} ${from.y}${loop(from, to)}`;
  let current = from;
  let path = `M${from.x} ${from.y}`;
  for (const lane of lanes) {
    const y = lane.y + LANE_MIDDLE;
    path += `${curve(current, { x: lane.x, y })}H${lane.x + CARD_WIDTH}`;
    current = { x: lane.x + CARD_WIDTH, y };
  }
  return path + curve(current, to);
}

function middleOf(from: Point, to: Point, lanes: readonly Point[]): Point {
  const lane = lanes[Math.floor(lanes.length / 2)];
  if (lane) return { x: lane.x + CARD_WIDTH / 2, y: lane.y + LANE_MIDDLE };
  const y = to.x <= from.x ? Math.max(from.y, to.y) + 40 : (from.y + to.y) / 2;
  return { x: (from.x + to.x) / 2, y };
}

/** The paths of all edges between cards of the layout. An indirect edge ends at the header of its target card. */
export function routeEdges(graph: LineageGraph, anchors: Anchors, layout: Layout): EdgePath[] {
  const paths = new Map<string, EdgePath>();
  for (const edge of graph.edges.values()) {
    const source = anchors.position(tableOf(edge.from));
    const target = anchors.position(tableOf(edge.to));
    if (!source || !target) continue;
    const key = edge.direct ? edge.key : `${edge.from}⇢${tableOf(edge.to)}`;
    if (paths.has(key)) continue;
    const from = { x: source.x + CARD_WIDTH, y: source.y + anchors.rowOffset(edge.from) };
    const to = { x: target.x, y: target.y + (edge.direct ? anchors.rowOffset(edge.to) : HEADER_MIDDLE) };
    const lanes = layout.crossings.get(linkKey(tableOf(edge.from), tableOf(edge.to))) ?? [];
    paths.set(key, { key, edge, path: route(from, to, lanes), middle: middleOf(from, to, lanes) });
  }
  return [...paths.values()];
}
