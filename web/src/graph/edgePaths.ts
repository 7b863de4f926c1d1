/** Lines: where each edge runs between the rows of two cards, and what it says. */
import { tableOf } from '../state/names';
import { CARD_WIDTH, type Card, FILTER_HEIGHT, HEAD_HEIGHT, ROW_HEIGHT } from './cards';
import { type Layout, type Link, linkKey, type Place } from './layout';
import type { Edge, Picture } from './lineageGraph';

export interface Line {
  readonly key: string;
  readonly edge: Edge;
  readonly path: string;
  readonly middle: Place;
}

export interface Anchors {
  /** Height of a column's row below its card's top; its head when the row is not shown. */
  readonly row: (column: string) => number;
  readonly place: (table: string) => Place | undefined;
}

const HEAD_MIDDLE = HEAD_HEIGHT / 2;

/** Where rows are, from cards and their places. */
export function anchorsOf(cards: readonly Card[], layout: Layout): Anchors {
  const rows = new Map<string, number>();
  for (const card of cards) {
    const top = HEAD_HEIGHT + (card.filtered ? FILTER_HEIGHT : 0);
    card.rows.forEach((row, index) => {
      rows.set(row.key, top + index * ROW_HEIGHT + ROW_HEIGHT / 2);
    });
  }
  return { row: (key) => rows.get(key) ?? HEAD_MIDDLE, place: (table) => layout.places.get(table) };
}

/** The links between tables that a picture's edges make, each once. */
export function linksOf(picture: Picture): Link[] {
  const links = new Map<string, Link>();
  for (const edge of picture.edges.values()) {
    const link = { from: tableOf(edge.from), to: tableOf(edge.to) };
    links.set(linkKey(link.from, link.to), link);
  }
  return [...links.values()];
}

function curve(from: Place, to: Place): string {
  const reach = Math.max(32, Math.abs(to.x - from.x) / 2);
  return `C${from.x + reach} ${from.y} ${to.x - reach} ${to.y} ${to.x} ${to.y}`;
}

function loop(from: Place, to: Place): string {
  const drop = Math.max(from.y, to.y) + 40;
  const middle = (from.x + to.x) / 2;
  return (
    `C${from.x + 56} ${from.y} ${from.x + 56} ${drop} ${middle} ${drop}` +
    `S${to.x - 56} ${to.y} ${to.x} ${to.y}`
  );
}

/** The way from one point to another over the lanes between; back and round when it leads left. */
function route(from: Place, to: Place, lanes: readonly Place[]): string {
  if (to.x <= from.x) return `M${from.x} ${from.y}${loop(from, to)}`;
  let at = from;
  let path = `M${from.x} ${from.y}`;
  for (const lane of lanes) {
    const y = lane.y + 4;
    path += `${curve(at, { x: lane.x, y })}H${lane.x + CARD_WIDTH}`;
    at = { x: lane.x + CARD_WIDTH, y };
  }
  return path + curve(at, to);
}

function middleOf(from: Place, to: Place, lanes: readonly Place[]): Place {
  const lane = lanes[Math.floor(lanes.length / 2)];
  if (lane) return { x: lane.x + CARD_WIDTH / 2, y: lane.y + 4 };
  const drop = to.x <= from.x ? Math.max(from.y, to.y) + 40 : (from.y + to.y) / 2;
  return { x: (from.x + to.x) / 2, y: drop };
}

/** A line for each edge whose cards are placed. An indirect edge ends at the head of the card it shapes. */
export function toLines(picture: Picture, anchors: Anchors, layout: Layout): Line[] {
  const lines = new Map<string, Line>();
  for (const edge of picture.edges.values()) {
    const source = anchors.place(tableOf(edge.from));
    const target = anchors.place(tableOf(edge.to));
    if (!source || !target) continue;
    const key = edge.direct ? edge.key : `${edge.from}⇢${tableOf(edge.to)}`;
    if (lines.has(key)) continue;
    const from = { x: source.x + CARD_WIDTH, y: source.y + anchors.row(edge.from) };
    const to = { x: target.x, y: target.y + (edge.direct ? anchors.row(edge.to) : HEAD_MIDDLE) };
    const lanes = layout.crossings.get(linkKey(tableOf(edge.from), tableOf(edge.to))) ?? [];
    lines.set(key, { key, edge, path: route(from, to, lanes), middle: middleOf(from, to, lanes) });
  }
  return [...lines.values()];
}
