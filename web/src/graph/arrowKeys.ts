/** Where an arrow key leads from a row: along the card, to the next card, or along a line. */
import type { Card } from './cards';
import type { Layout } from './layout';
import type { Edge } from './lineageGraph';

export type Arrow = 'ArrowUp' | 'ArrowDown' | 'ArrowLeft' | 'ArrowRight';

export interface Drawn {
  readonly cards: readonly Card[];
  readonly layout: Layout;
  readonly edges: readonly Edge[];
}

const xOf = (map: Drawn, card: Card) => map.layout.places.get(card.key)?.x ?? 0;
const yOf = (map: Drawn, card: Card) => map.layout.places.get(card.key)?.y ?? 0;

function vertical(map: Drawn, card: Card, index: number, step: 1 | -1): string | null {
  const inside = card.rows[index + step];
  if (inside) return inside.key;
  const stacked = map.cards
    .filter((other) => xOf(map, other) === xOf(map, card) && other.rows.length > 0)
    .sort((a, b) => yOf(map, a) - yOf(map, b));
  const next = stacked[stacked.indexOf(card) + step];
  return (step === 1 ? next?.rows[0]?.key : next?.rows.at(-1)?.key) ?? null;
}

function sideways(map: Drawn, card: Card, key: string, step: 1 | -1): string | null {
  const drawn = new Set(map.cards.flatMap((each) => each.rows.map((row) => row.key)));
  const edge = map.edges.find((each) =>
    step === 1 ? each.from === key && drawn.has(each.to) : each.to === key && drawn.has(each.from),
  );
  if (edge) return step === 1 ? edge.to : edge.from;
  const beside = map.cards
    .filter((other) => (xOf(map, other) - xOf(map, card)) * step > 0 && other.rows.length > 0)
    .sort((a, b) => far(map, a, card) - far(map, b, card));
  return beside[0]?.rows[0]?.key ?? null;
}

const far = (map: Drawn, a: Card, b: Card) =>
  Math.abs(xOf(map, a) - xOf(map, b)) * 10 + Math.abs(yOf(map, a) - yOf(map, b));

/** The row that an arrow leads to from `key`; null where there is none. */
export function stepFrom(map: Drawn, key: string, arrow: Arrow): string | null {
  const card = map.cards.find((each) => each.rows.some((row) => row.key === key));
  if (!card) return map.cards.find((each) => each.rows.length > 0)?.rows[0]?.key ?? null;
  const index = card.rows.findIndex((row) => row.key === key);
  if (arrow === 'ArrowUp') return vertical(map, card, index, -1);
  if (arrow === 'ArrowDown') return vertical(map, card, index, 1);
  return sideways(map, card, key, arrow === 'ArrowRight' ? 1 : -1);
}
