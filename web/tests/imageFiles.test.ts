import { expect, test } from 'vitest';
import { toCards } from '../src/graph/cards';
import { anchorsOf, linksOf, toLines } from '../src/graph/edgePaths';
import { PLAIN } from '../src/graph/highlight';
import { toSvg } from '../src/graph/imageFiles';
import { layOut } from '../src/graph/layout';
import { type Palette, toScene } from '../src/graph/shapes';
import { picture } from './sampleGraphs';

const PALETTE: Palette = {
  surface: '#fff',
  background: '#eee',
  text: '#000',
  muted: '#666',
  border: '#ccc',
  line: '#888',
  marks: {},
  layers: { none: '#999' },
};

test('a picture becomes SVG without anything that could run', () => {
  const story = picture(['<script>alert(1)</script>.x"><b> -> b.y']);
  const cards = toCards(story);
  const boxes = cards.map((card) => ({ id: card.key, height: card.height }));
  const layout = layOut(boxes, linksOf(story));
  const lines = toLines(story, anchorsOf(cards, layout), layout);
  const drawing = { picture: story, groupedTables: 0, leftEdges: 0, cards, lines, layout };
  const { scene, dx, dy } = toScene(drawing, PLAIN, PALETTE);
  const svg = toSvg(scene, dx, dy);
  expect(svg).not.toMatch(/<script|<b>/);
  expect(svg).toContain('&lt;script&gt;');
  expect(svg.match(/<rect/g)?.length).toBe(1 + 2 * cards.length);
  expect(svg.match(/<path/g)?.length).toBe(1);
});
