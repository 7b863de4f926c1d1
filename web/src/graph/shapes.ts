/** A drawing as plain shapes, for a file: nothing of the page's own style sheet is needed to show it. */
import { cutMiddle, visible } from '../format/text';
import { CARD_WIDTH, type Card, FILTER_HEIGHT, HEAD_HEIGHT, ROW_HEIGHT } from './cards';
import type { Line } from './edgePaths';
import { isHidden, markOf, type Paint } from './highlight';
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
      readonly end: boolean;
    };

export interface Scene {
  readonly width: number;
  readonly height: number;
  readonly background: string;
  readonly shapes: readonly Shape[];
}

const MARGIN = 24;

function text(
  x: number,
  y: number,
  value: string,
  fill: string,
  font: 'bold' | 'plain' | 'mono',
  size: number,
  end = false,
): Shape {
  return { kind: 'text', x, y, text: value, fill, font, size, end };
}

function cardShapes(card: Card, x: number, y: number, paint: Paint, palette: Palette): Shape[] {
  const layer = palette.layers[card.layer ?? 'none'] ?? palette.layers.none ?? palette.border;
  const box = { kind: 'rect', x, y, width: CARD_WIDTH, height: card.height, radius: 8 } as const;
  const shapes: Shape[] = [
    { ...box, fill: palette.surface, stroke: palette.border, dashed: card.why !== null },
    { ...box, width: 3, radius: 1, fill: layer, stroke: null, dashed: false },
    text(x + 14, y + 21, cutMiddle(visible(card.title), 28), palette.text, 'bold', 14),
    text(x + 14, y + 39, cutMiddle(visible(card.name), 38), palette.muted, 'plain', 11),
  ];
  const top = y + HEAD_HEIGHT + (card.filtered ? FILTER_HEIGHT : 0);
  card.rows.forEach((row, index) => {
    const mark = paint.rows.get(row.key);
    const base = top + index * ROW_HEIGHT + 16;
    const fill = (mark && palette.marks[mark]) ?? palette.text;
    const badge = `${row.aggregated ? ' Σ' : ''}${row.masked ? ' (masked)' : ''}`;
    shapes.push(text(x + 14, base, `${cutMiddle(visible(row.field), 24)}${badge}`, fill, 'mono', 12.5));
    if (row.type)
      shapes.push(
        text(x + CARD_WIDTH - 12, base, cutMiddle(visible(row.type), 14), palette.muted, 'plain', 11, true),
      );
  });
  return shapes;
}

function lineShape(line: Line, paint: Paint, palette: Palette): Shape[] {
  const mark = markOf(line.edge, paint);
  if (isHidden(mark, paint)) return [];
  const lit = paint.path?.edges.has(line.edge.key) ?? false;
  const stroke = (mark && palette.marks[mark]) ?? (lit ? palette.marks.accent : undefined) ?? palette.line;
  return [{ kind: 'path', path: line.path, stroke, width: lit ? 2.5 : 1.5, dashed: !line.edge.direct }];
}

/** The shapes of a whole drawing, lines under cards, moved so that nothing is cut. */
export function toScene(
  drawing: Drawing,
  paint: Paint,
  palette: Palette,
): { scene: Scene; dx: number; dy: number } {
  const places = drawing.cards.map((card) => ({
    card,
    at: drawing.layout.places.get(card.key) ?? { x: 0, y: 0 },
  }));
  const left = Math.min(0, ...places.map(({ at }) => at.x));
  const top = Math.min(0, ...places.map(({ at }) => at.y));
  const right = Math.max(CARD_WIDTH, ...places.map(({ at }) => at.x + CARD_WIDTH));
  const bottom = Math.max(0, ...places.map(({ at, card }) => at.y + card.height));
  const shapes = [
    ...drawing.lines.flatMap((line) => lineShape(line, paint, palette)),
    ...places.flatMap(({ card, at }) => cardShapes(card, at.x, at.y, paint, palette)),
  ];
  const scene = {
    width: right - left + 2 * MARGIN,
    height: bottom - top + 2 * MARGIN + 40,
    background: palette.background,
    shapes,
  };
  return { scene, dx: MARGIN - left, dy: MARGIN - top };
}
