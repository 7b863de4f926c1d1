/** Converts a drawing to plain shapes, from which SVG and PNG files are made without the page's style sheet. */
import { truncateMiddle, visible } from '../format/text';
import { CARD_WIDTH, type Card, FILTER_HEIGHT, HEADER_HEIGHT, ROW_HEIGHT, type Row } from './cards';
import type { EdgePath } from './edgePaths';
import { edgeMark, type Highlight, isMarkHidden, type Mark } from './highlight';
import type { Point } from './layout';
import type { Drawing } from './useDrawing';

export interface Palette {
  readonly surface: string;
  readonly background: string;
  readonly text: string;
  readonly muted: string;
  readonly border: string;
  readonly line: string;
  readonly marks: Readonly<Record<string, string>>;
  readonly layers: Readonly<Record<string, string>>;
}

export type Shape =
  | {
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
  | {
      readonly kind: 'path';
      readonly path: string;
      readonly stroke: string;
      readonly width: number;
      readonly dashed: boolean;
    }
  | {
      readonly kind: 'text';
      readonly x: number;
      readonly y: number;
      readonly text: string;
      readonly fill: string;
      readonly font: 'bold' | 'plain' | 'mono';
      readonly size: number;
      readonly alignRight: boolean;
    };

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

type TextShape = Extract<Shape, { readonly kind: 'text' }>;

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

/** The name and, at the right, the type of a column; `y` is the baseline of the text. */
function rowShapes(row: Row, x: number, y: number, mark: Mark | undefined, palette: Palette): Shape[] {
  const badge = `${row.aggregated ? ' Σ' : ''}${row.masked ? ' (masked)' : ''}`;
  const name = `${truncateMiddle(visible(row.field), 24)}${badge}`;
  const fill = (mark && palette.marks[mark]) ?? palette.text;
  const shapes: Shape[] = [text(x + 14, y, name, { fill, font: 'mono', size: 12.5 })];
  if (!row.type) return shapes;
  const type = truncateMiddle(visible(row.type), 14);
  const style = { fill: palette.muted, font: 'plain', size: 11 } as const;
  return [...shapes, { ...text(x + CARD_WIDTH - 12, y, type, style), alignRight: true }];
}

function cardShapes(card: Card, { x, y }: Point, highlight: Highlight, palette: Palette): Shape[] {
  const layer = palette.layers[card.layer ?? 'none'] ?? palette.layers.none ?? palette.border;
  const box = { kind: 'rect', x, y, width: CARD_WIDTH, height: card.height, radius: 8 } as const;
  const title = truncateMiddle(visible(card.title), 28);
  const top = y + HEADER_HEIGHT + (card.hasFilter ? FILTER_HEIGHT : 0);
  return [
    { ...box, fill: palette.surface, stroke: palette.border, dashed: card.unknownReason !== null },
    { ...box, width: 3, radius: 1, fill: layer, stroke: null, dashed: false },
    text(x + 14, y + 23, title, { fill: palette.text, font: 'bold', size: 14 }),
    ...card.rows.flatMap((row, index) =>
      rowShapes(row, x, top + index * ROW_HEIGHT + 16, highlight.columnMarks.get(row.key), palette),
    ),
  ];
}

function edgeShapes({ edge, path }: EdgePath, highlight: Highlight, palette: Palette): Shape[] {
  const mark = edgeMark(edge, highlight);
  if (isMarkHidden(mark, highlight)) return [];
  const onPath = highlight.path?.edges.has(edge.key) ?? false;
  const stroke = (mark && palette.marks[mark]) ?? (onPath ? palette.marks.accent : undefined) ?? palette.line;
  return [{ kind: 'path', path, stroke, width: onPath ? 2.5 : 1.5, dashed: !edge.direct }];
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
