/** Arrow keys in the graph: up and down move along the rows, left and right along the edges. */
import type { Card } from './cards';
import type { Layout } from './layout';
import type { Edge } from './lineageGraph';

export type ArrowKey = 'ArrowUp' | 'ArrowDown' | 'ArrowLeft' | 'ArrowRight';

export interface NavigableGraph {
  readonly cards: readonly Card[];
  readonly layout: Layout;
  readonly edges: readonly Edge[];
}

const xOf = ({ layout }: NavigableGraph, card: Card) => layout.positions.get(card.key)?.x ?? 0;
const yOf = ({ layout }: NavigableGraph, card: Card) => layout.positions.get(card.key)?.y ?? 0;

/** The next row of the card, or the nearest row of the card above or below it. */
function verticalNeighbour(graph: NavigableGraph, card: Card, index: number, step: 1 | -1): string | null {
  const sameCard = card.rows[index + step];
  if (sameCard) return sameCard.key;
  const sameRank = graph.cards
    .filter((other) => xOf(graph, other) === xOf(graph, card) && other.rows.length > 0)
    .sort((a, b) => yOf(graph, a) - yOf(graph, b));
  const next = sameRank[sameRank.indexOf(card) + step];
  return (step === 1 ? next?.rows[0]?.key : next?.rows.at(-1)?.key) ?? null;
}

/** The other end of an edge of the row, or the first row of the nearest card on that side. */
function horizontalNeighbour(graph: NavigableGraph, card: Card, key: string, step: 1 | -1): string | null {
  const rows = new Set(graph.cards.flatMap((each) => each.rows.map((row) => row.key)));
  const edge = graph.edges.find((each) =>
    step === 1 ? each.from === key && rows.has(each.to) : each.to === key && rows.has(each.from),
  );
  if (edge) return step === 1 ? edge.to : edge.from;
  const onSide = graph.cards
    .filter((other) => (xOf(graph, other) - xOf(graph, card)) * step > 0 && other.rows.length > 0)
    .sort((a, b) => cardDistance(graph, a, card) - cardDistance(graph, b, card));
  return onSide[0]?.rows[0]?.key ?? null;
}

/** Horizontal distance counts ten times, so that the next rank comes first. */
const cardDistance = (graph: NavigableGraph, a: Card, b: Card) =>
  Math.abs(xOf(graph, a) - xOf(graph, b)) * 10 + Math.abs(yOf(graph, a) - yOf(graph, b));

/** The key of the row that an arrow key moves to; null at the end. */
export function nextRow(graph: NavigableGraph, key: string, arrow: ArrowKey): string | null {
  const card = graph.cards.find((each) => each.rows.some((row) => row.key === key));
  if (!card) return graph.cards.find((each) => each.rows.length > 0)?.rows[0]?.key ?? null;
  const index = card.rows.findIndex((row) => row.key === key);
  if (arrow === 'ArrowUp') return verticalNeighbour(graph, card, index, -1);
  if (arrow === 'ArrowDown') return verticalNeighbour(graph, card, index, 1);
  return horizontalNeighbour(graph, card, key, arrow === 'ArrowRight' ? 1 : -1);
}
