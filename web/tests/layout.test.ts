import { expect, test } from 'vitest';
import { type Box, CARD_GAP, computeLayout, type Link, linkKey } from '../src/graph/layout';

const boxes = (text: string, height = 100): Box[] => text.split(' ').map((id) => ({ id, height }));
const links = (text: string): Link[] =>
  text
    .split(' ')
    .filter(Boolean)
    .map((pair) => ({ from: pair.split('>')[0] ?? '', to: pair.split('>')[1] ?? '' }));

const xOf = (text: string, edges: string) => {
  const { positions } = computeLayout(boxes(text), links(edges));
  return (id: string) => positions.get(id)?.x ?? Number.NaN;
};

test('sources are left of their targets', () => {
  const x = xOf('c b a', 'a>b b>c a>c');
  expect(x('a')).toBeLessThan(x('b'));
  expect(x('b')).toBeLessThan(x('c'));
});

test('cycles and self edges are laid out', () => {
  const { positions } = computeLayout(boxes('a b c'), links('a>b b>c c>a b>b'));
  expect(new Set([...positions.values()].map(({ x }) => x)).size).toBe(3);
});

test('a source is placed next to its first target', () => {
  const x = xOf('a b c d late', 'a>b b>c c>d late>d');
  expect(x('late')).toBe(x('c'));
});

test('a source outside the lake is left of every bronze table', () => {
  const layered = boxes('raw b1 b2 g late').map((box) => ({
    ...box,
    layer: box.id.startsWith('b') ? 'bronze' : box.id === 'g' ? 'gold' : null,
  }));
  const { positions } = computeLayout(layered, links('b1>g b2>g late>g raw>b1'));
  const x = (id: string) => positions.get(id)?.x ?? Number.NaN;
  expect(x('raw')).toBeLessThan(Math.min(x('b1'), x('b2')));
  expect(x('late')).toBe(x('raw'));
  expect(computeLayout(layered.slice(1), links('b1>g b2>g late>g')).positions.get('b1')?.x).toBe(x('b1'));
});

test('a long link gets a lane in each rank it crosses', () => {
  const { crossings, positions } = computeLayout(boxes('a b c d'), links('a>b b>c c>d a>d b>d'));
  const lanes = crossings.get(linkKey('b', 'd')) ?? [];
  expect(lanes.map(({ x }) => x)).toEqual([positions.get('c')?.x]);
  expect(crossings.get(linkKey('a', 'd'))?.length).toBe(2);
});

test('a link to an unknown box is ignored', () => {
  expect([...computeLayout(boxes('a'), links('a>ghost')).positions]).toEqual([['a', { x: 0, y: 0 }]]);
});

test('an empty graph has an empty layout', () => expect(computeLayout([], []).positions.size).toBe(0));

/** Reproducible pseudo-random numbers between 0 and 1. */
function* pseudoRandom(seed: number): Generator<number, never> {
  let state = seed;
  for (;;) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    yield state / 2_147_483_648;
  }
}

test.each([1, 2, 3, 4, 5, 6, 7, 8])('cards of one rank never overlap (graph %i)', (seed) => {
  const random = pseudoRandom(seed);
  const next = (limit: number) => Math.floor(random.next().value * limit);
  const cards = Array.from({ length: 60 }, (_, id) => ({ id: String(id), height: 60 + next(300) }));
  const edges = Array.from({ length: 120 }, () => ({ from: String(next(60)), to: String(next(60)) }));
  const { positions } = computeLayout(cards, edges);
  for (const a of cards) {
    for (const b of cards) {
      const [upper, lower] = [positions.get(a.id), positions.get(b.id)];
      if (a === b || !upper || !lower || upper.x !== lower.x || upper.y > lower.y) continue;
      expect(lower.y - upper.y).toBeGreaterThanOrEqual(a.height + CARD_GAP - 1);
    }
  }
});

test('the layout is deterministic', () => {
  const [cards, edges] = [boxes('a b c d e'), links('a>c b>c c>d c>e a>e')];
  expect(computeLayout(cards, edges)).toEqual(computeLayout(cards, edges));
});
