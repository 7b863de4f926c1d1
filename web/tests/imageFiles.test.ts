import { expect, test } from 'vitest';
import { type CardOptions, DEFAULT_OPTIONS, toCards } from '../src/graph/cards';
import { routeEdges, rowAnchors, tableLinks } from '../src/graph/edgePaths';
import { NO_HIGHLIGHT } from '../src/graph/highlight';
import { toSvg } from '../src/graph/imageFiles';
import { computeLayout } from '../src/graph/layout';
import type { LineageGraph } from '../src/graph/lineageGraph';
import { findPathThrough } from '../src/graph/path';
import { type Palette, toScene } from '../src/graph/shapes';
import { QUESTION, SHIELD } from '../src/shell/icons';
import { key, sampleGraph } from './sampleGraphs';

const PALETTE: Palette = {
  surface: '#fff',
  background: '#eee',
  text: '#000',
  muted: '#666',
  border: '#ccc',
  line: '#888',
  focus: '#eff',
  marks: {},
  layers: { none: '#999' },
};

function draw(graph: LineageGraph, options: Partial<CardOptions> = {}) {
  const cards = toCards(graph, { ...DEFAULT_OPTIONS, ...options });
  const boxes = cards.map((card) => ({ id: card.key, height: card.height }));
  const layout = computeLayout(boxes, tableLinks(graph));
  const edgePaths = routeEdges(graph, rowAnchors(cards, layout), layout);
  return { graph, groupedTables: 0, omittedEdges: 0, cards, edgePaths, layout, loaded: graph };
}

test('an SVG file contains no executable content', () => {
  const drawing = draw(sampleGraph(['<script>alert(1)</script>.x"><b> -> b.y']));
  const { cards } = drawing;
  const svg = toSvg(toScene(drawing, NO_HIGHLIGHT, PALETTE));
  expect(svg).not.toMatch(/<script|<b>/);
  expect(svg).toContain('&lt;script&gt;');
  expect(svg.match(/<rect/g)?.length).toBe(1 + 2 * cards.length);
  expect(svg.match(/<path/g)?.length).toBe(1);
});

test('a picture shows masking, unknown lineage and what is hidden', () => {
  const graph = sampleGraph(['a.x -> b.x #', 'b.x -> c.x'], { 'a.x': { up: 3 } });
  const options = {
    tableColumns: new Map([['ns|a', [...sampleGraph(['a.x', 'a.y']).columns.values()]]]),
    unknownReasons: new Map([['b', 'an opaque step']]),
  };
  const svg = toSvg(toScene(draw(graph, options), NO_HIGHLIGHT, PALETTE));
  expect(svg.split(`d="${SHIELD}"`).length - 1).toBe(2); // at the edge and at the column
  expect(svg).toContain(`d="${QUESTION}"`);
  expect(svg).toContain('>1 more</text>');
  expect(svg).toContain('>‹ 3</text>');
});

test('a picture dims what is not on the pinned path', () => {
  const graph = sampleGraph(['a.x -> b.x', 'a.y -> b.y', 'd.z -> b.y']);
  const path = findPathThrough(graph, key('a.x'));
  const svg = toSvg(toScene(draw(graph), { ...NO_HIGHLIGHT, path }, PALETTE));
  expect(svg.match(/stroke-width="1.5" opacity="0.2"/g)?.length).toBe(2);
  expect(svg.match(/stroke-width="2.5"/g)?.length).toBe(1);
  expect(svg).toContain('font-size="14" opacity="0.2">d</text>');
});

test('personal data has a symbol in addition to its color', () => {
  const graph = sampleGraph(['a.x -> b.x', 'a.x -> c.x #']);
  const marks = new Map([
    [key('b.x'), 'clear'],
    [key('c.x'), 'masked'],
  ] as const);
  const svg = toSvg(toScene(draw(graph), { ...NO_HIGHLIGHT, kind: 'personal', columnMarks: marks }, PALETTE));
  expect(svg).toContain('>!</text>');
  expect(svg.split(`d="${SHIELD}"`).length - 1).toBe(2);
});
