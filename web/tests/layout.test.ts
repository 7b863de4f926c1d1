import { expect, test } from 'vitest';
import { type Box, CARD_GAP, type Link, layOut, linkKey } from '../src/graph/layout';

const boxes = (text: string, height = 100): Box[] => text.split(' ').map((id) => ({ id, height }));
const links = (text: string): Link[] =>
  text
    .split(' ')
    .filter(Boolean)
    .map((pair) => ({ from: pair.split('>')[0] ?? '', to: pair.split('>')[1] ?? '' }));

const xOf = (text: string, edges: string) => {
  const { places } = layOut(boxes(text), links(edges));
  return (id: string) => places.get(id)?.x ?? Number.NaN;
};

test('sources are left of what they feed', () => {
  const x = xOf('c b a', 'a>b b>c a>c');
  expect(x('a')).toBeLessThan(x('b'));
  expect(x('b')).toBeLessThan(x('c'));
});

test('a cycle and a self edge are laid out all the same', () => {
  const { places } = layOut(boxes('a b c'), links('a>b b>c c>a b>b'));
  expect(new Set([...places.values()].map(({ x }) => x)).size).toBe(3);
});

test('a late source stands next to what it feeds', () => {
  const x = xOf('a b c d late', 'a>b b>c c>d late>d');
  expect(x('late')).toBe(x('c'));
});

test('a link over ranks gets a lane in each rank it crosses', () => {
  const { crossings, places } = layOut(boxes('a b c d'), links('a>b b>c c>d a>d b>d'));
  const lanes = crossings.get(linkKey('b', 'd')) ?? [];
  expect(lanes.map(({ x }) => x)).toEqual([places.get('c')?.x]);
  expect(crossings.get(linkKey('a', 'd'))?.length).toBe(2);
});

test('a link to a box that is not drawn is left out', () => {
  expect([...layOut(boxes('a'), links('a>ghost')).places]).toEqual([['a', { x: 0, y: 0 }]]);
});

test('nothing to lay out is nothing', () => expect(layOut([], []).places.size).toBe(0));

/** A fixed sequence of numbers that looks random. */
function* noise(seed: number): Generator<number, never> {
  let state = seed;
  for (;;) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    yield state / 2_147_483_648;
  }
}

test.each([1, 2, 3, 4, 5, 6, 7, 8])('cards of one rank never overlap (graph %i)', (seed) => {
  const random = noise(seed);
  const next = (most: number) => Math.floor(random.next().value * most);
  const some = Array.from({ length: 60 }, (_, id) => ({ id: String(id), height: 60 + next(300) }));
  const edges = Array.from({ length: 120 }, () => ({ from: String(next(60)), to: String(next(60)) }));
  const { places } = layOut(some, edges);
  for (const a of some) {
    for (const b of some) {
      const [one, two] = [places.get(a.id), places.get(b.id)];
      if (a === b || !one || !two || one.x !== two.x || one.y > two.y) continue;
      expect(two.y - one.y).toBeGreaterThanOrEqual(a.height + CARD_GAP - 1);
    }
  }
});

test('the same graph is laid out the same way', () => {
  const [some, edges] = [boxes('a b c d e'), links('a>c b>c c>d c>e a>e')];
  expect(layOut(some, edges)).toEqual(layOut(some, edges));
});
