/** Converts a drawing to plain shapes, from which SVG and PNG files are made without the page's style sheet. */
import { count, truncateMiddle, visible } from '../format/text';
import { QUESTION, SHIELD, SUM } from '../shell/icons';
import {
  CARD_WIDTH,
  type Card,
  FILTER_HEIGHT,
  FOOTER_HEIGHT,
  footerText,
  HEADER_HEIGHT,
  hasFooter,
  ROW_HEIGHT,
  type Row,
} from './cards';
import type { EdgePath } from './edgePaths';
import { edgeMark, type Highlight, isMarkHidden, type Mark } from './highlight';
import { edgeSymbols, MARK_LABELS } from './labels';
import type { Point } from './layout';
import { isOnPath } from './path';
import { fieldText, typeText } from './rowText';
import type { Drawing } from './useDrawing';

export interface Palette {
  readonly surface: string;
  readonly background: string;
  readonly text: string;
  readonly muted: string;
  readonly border: string;
  readonly line: string;
  readonly focus: string;
  readonly marks: Readonly<Record<string, string>>;
  readonly layers: Readonly<Record<string, string>>;
}

interface Rect {
  readonly kind: 'rect';
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly fill: string;
  readonly stroke: string | null;
  readonly radius: number;
  readonly dashed: boolean;
}

interface PathShape {
  readonly kind: 'path';
  readonly path: string;
  /** How far the path is moved. */
  readonly at: Point;
  readonly stroke: string;
  readonly width: number;
  readonly dashed: boolean;
}

interface TextShape {
  readonly kind: 'text';
  readonly x: number;
  readonly y: number;
  readonly text: string;
  readonly fill: string;
  readonly font: 'bold' | 'plain' | 'mono';
  readonly size: number;
  readonly alignRight: boolean;
}

/** `opacity` is that of what is not on the highlighted path. */
export type Shape = (Rect | PathShape | TextShape) & { readonly opacity?: number };

export interface Scene {
  readonly width: number;
  readonly height: number;
  readonly background: string;
  /** How far all shapes are moved, so that none is outside the image. */
  readonly offset: Point;
  readonly shapes: readonly Shape[];
}

const MARGIN = 24;
/** Space for edges that loop below the lowest card. */
const BOTTOM_SPACE = 40;
const DIMMED_OPACITY = 0.2;
const SMALL = 12.5;
const MONO_CHARACTER_PX = 7.6;
const BADGE_STEP_PX = 18;

const text = (
  x: number,
  y: number,
  value: string,
  style: Pick<TextShape, 'fill' | 'font' | 'size'>,
): TextShape => ({
  kind: 'text',
  x,
  y,
  text: value,
  alignRight: false,
  ...style,
});

/** An icon of 16 × 16 with its top left corner at `at`. */
const icon = (path: string, at: Point, stroke: string): PathShape => ({
  kind: 'path',
  path,
  at,
  stroke,
  width: 1.5,
  dashed: false,
});

const withOpacity = (shapes: readonly Shape[], isDimmed: boolean): Shape[] =>
  isDimmed ? shapes.map((shape) => ({ ...shape, opacity: DIMMED_OPACITY })) : [...shapes];

/** The badges after the name of a column: its mark, aggregation, masking. */
function badgeShapes(row: Row, mark: Mark | null, start: Point, palette: Palette): Shape[] {
  const badges: ((at: Point) => Shape)[] = [];
  const color = (name: string) => palette.marks[name] ?? palette.text;
  const shield = (at: Point) => icon(SHIELD, at, color('masked'));
  if (mark === 'masked') badges.push(shield);
  else if (mark !== null) {
    const style = { fill: color(mark), font: 'bold', size: SMALL } as const;
    badges.push(({ x, y }) => text(x, y + 12, MARK_LABELS[mark].symbol, style));
  }
  if (row.aggregated) badges.push((at) => icon(SUM, at, palette.muted));
  if (row.masked && mark === null) badges.push(shield);
  return badges.map((badge, index) => badge({ x: start.x + index * BADGE_STEP_PX, y: start.y }));
}

/** The name, the badges and, at the right, the type of a column. */
function rowShapes(row: Row, { x, y }: Point, highlight: Highlight, palette: Palette): Shape[] {
  const mark = highlight.columnMarks.get(row.key) ?? null;
  const onPath = highlight.path?.columns.has(row.key) ?? false;
  const isFocus = highlight.focus === row.key;
  const accent = onPath ? palette.marks.accent : undefined;
  const fill = (mark && palette.marks[mark]) ?? accent ?? (row.onPath ? palette.text : palette.muted);
  const name = fieldText(row, mark);
  const end = { x: x + 20 + name.length * MONO_CHARACTER_PX, y: y + 4 };
  const box = { kind: 'rect', x: x + 3, y, width: CARD_WIDTH - 4, height: ROW_HEIGHT, radius: 0 } as const;
  const type = text(x + CARD_WIDTH - 12, y + 16, typeText(row), {
    fill: palette.muted,
    font: 'plain',
    size: SMALL,
  });
  return [
    ...(isFocus ? [{ ...box, fill: palette.focus, stroke: null, dashed: false }] : []),
    text(x + 14, y + 16, name, { fill, font: 'mono', size: SMALL }),
    ...badgeShapes(row, mark, end, palette),
    ...(type.text === '' ? [] : [{ ...type, alignRight: true }]),
  ];
}

/** What is not on the card: its other columns, and the number of hidden neighbours on each side. */
function hiddenShapes(card: Card, { x, y }: Point, palette: Palette): Shape[] {
  const style = { fill: palette.muted, font: 'plain', size: SMALL } as const;
  const { up, down } = card.hidden;
  const middle = y + HEADER_HEIGHT / 2 + 4;
  return [
    ...(hasFooter(card) ? [text(x + 14, y + card.height - FOOTER_HEIGHT + 17, footerText(card), style)] : []),
    ...(up > 0 ? [{ ...text(x - 6, middle, `‹ ${count(up)}`, style), alignRight: true }] : []),
    ...(down > 0 ? [text(x + CARD_WIDTH + 6, middle, `${count(down)} ›`, style)] : []),
  ];
}

function cardShapes(card: Card, { x, y }: Point, highlight: Highlight, palette: Palette): Shape[] {
  const layer = palette.layers[card.layer ?? 'none'] ?? palette.layers.none ?? palette.border;
  const box = { kind: 'rect', x, y, width: CARD_WIDTH, height: card.height, radius: 8 } as const;
  const isUnknown = card.unknownReason !== null;
  const top = y + HEADER_HEIGHT + (card.hasFilter ? FILTER_HEIGHT : 0);
  const { path } = highlight;
  const onPath = path === null || isOnPath(card, path);
  const shapes: Shape[] = [
    { ...box, fill: palette.surface, stroke: palette.border, dashed: isUnknown || card.isGroup },
    { ...box, width: 3, radius: 1, fill: layer, stroke: null, dashed: false },
    text(x + 14, y + 23, truncateMiddle(visible(card.title), 26), {
      fill: palette.text,
      font: 'bold',
      size: 14,
    }),
    ...(isUnknown ? [icon(QUESTION, { x: x + CARD_WIDTH - 24, y: y + 10 }, palette.muted)] : []),
    ...card.rows.flatMap((row, index) =>
      rowShapes(row, { x, y: top + index * ROW_HEIGHT }, highlight, palette),
    ),
    ...hiddenShapes(card, { x, y }, palette),
  ];
  return withOpacity(shapes, !onPath);
}

function symbolShapes({ middle }: EdgePath, symbol: string, stroke: string, palette: Palette): Shape[] {
  const corner = { x: middle.x - 8, y: middle.y - 8 };
  const circle = { x: middle.x - 9, y: middle.y - 9, width: 18, height: 18, radius: 9 } as const;
  return [
    { kind: 'rect', ...circle, fill: palette.background, stroke: null, dashed: false },
    icon(symbol, corner, stroke),
  ];
}

function edgeShapes(edgePath: EdgePath, highlight: Highlight, palette: Palette): Shape[] {
  const { edge, path } = edgePath;
  const mark = edgeMark(edge, highlight);
  if (isMarkHidden(mark, highlight)) return [];
  const onPath = highlight.path?.edges.has(edge.key) ?? false;
  const color = (mark && palette.marks[mark]) ?? undefined;
  const stroke = color ?? (onPath ? palette.marks.accent : undefined) ?? palette.line;
  const symbolStroke = color ?? palette.marks.masked ?? palette.line;
  const line = { kind: 'path', path, at: { x: 0, y: 0 }, stroke, dashed: !edge.direct } as const;
  const shapes: Shape[] = [
    { ...line, width: onPath ? 2.5 : 1.5 },
    ...edgeSymbols(edge, mark).flatMap((symbol) => symbolShapes(edgePath, symbol, symbolStroke, palette)),
  ];
  return withOpacity(shapes, highlight.path !== null && !onPath);
}

/** The shapes of a complete drawing, edges below cards. */
export function toScene(drawing: Drawing, highlight: Highlight, palette: Palette): Scene {
  const placed = drawing.cards.map((card) => ({
    card,
    position: drawing.layout.positions.get(card.key) ?? { x: 0, y: 0 },
  }));
  const left = Math.min(0, ...placed.map(({ position }) => position.x));
  const top = Math.min(0, ...placed.map(({ position }) => position.y));
  const right = Math.max(CARD_WIDTH, ...placed.map(({ position }) => position.x + CARD_WIDTH));
  const bottom = Math.max(0, ...placed.map(({ position, card }) => position.y + card.height));
  return {
    width: right - left + 2 * MARGIN,
    height: bottom - top + 2 * MARGIN + BOTTOM_SPACE,
    background: palette.background,
    offset: { x: MARGIN - left, y: MARGIN - top },
    shapes: [
      ...drawing.edgePaths.flatMap((path) => edgeShapes(path, highlight, palette)),
      ...placed.flatMap(({ card, position }) => cardShapes(card, position, highlight, palette)),
    ],
  };
}
