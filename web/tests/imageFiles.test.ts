import { expect, test } from 'vitest';
import { toCards } from '../src/graph/cards';
import { routeEdges, rowAnchors, tableLinks } from '../src/graph/edgePaths';
import { NO_HIGHLIGHT } from '../src/graph/highlight';
import { toSvg } from '../src/graph/imageFiles';
import { computeLayout } from '../src/graph/layout';
import { type Palette, toScene } from '../src/graph/shapes';
import { sampleGraph } from './sampleGraphs';

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

test('an SVG file contains no executable content', () => {
  const graph = sampleGraph(['<script>alert(1)</script>.x"><b> -> b.y']);
  const cards = toCards(graph);
  const boxes = cards.map((card) => ({ id: card.key, height: card.height }));
  const layout = computeLayout(boxes, tableLinks(graph));
  const edgePaths = routeEdges(graph, rowAnchors(cards, layout), layout);
  const drawing = { graph, groupedTables: 0, omittedEdges: 0, cards, edgePaths, layout };
  const svg = toSvg(toScene(drawing, NO_HIGHLIGHT, PALETTE));
  expect(svg).not.toMatch(/<script|<b>/);
  expect(svg).toContain('&lt;script&gt;');
  expect(svg.match(/<rect/g)?.length).toBe(1 + 2 * cards.length);
  expect(svg.match(/<path/g)?.length).toBe(1);
});
