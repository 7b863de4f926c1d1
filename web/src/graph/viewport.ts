/** Computes the viewport, i.e. zoom and pan, that shows a drawing. */
import type { Viewport } from '@xyflow/react';
import { CARD_WIDTH, type Card } from './cards';
import type { Layout, Point } from './layout';

const PADDING_PX = 32;
/** Smallest zoom at which rows can be read: five tables and the panel fit into 1280 px. */
export const MIN_READABLE_ZOOM = 0.5;
/** Zoom of a drawing that does not fit and is shown in part. */
const PARTIAL_ZOOM = 0.55;
export const MIN_ZOOM = 0.02;

/** The parts of a drawing that the viewport depends on. */
export interface PlacedCards {
  readonly cards: readonly Card[];
  readonly layout: Pick<Layout, 'positions'>;
}

export interface Bounds {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface CanvasSize {
  readonly width: number;
  readonly height: number;
  /** A drawing that needs a smaller zoom is shown in part. */
  readonly minZoom: number;
}

export function boundsOf({ cards, layout }: PlacedCards, subset = cards): Bounds {
  const boxes = subset.map((card) => ({ ...(layout.positions.get(card.key) as Point), card }));
  const x = Math.min(...boxes.map((box) => box.x));
  const y = Math.min(...boxes.map((box) => box.y));
  const right = Math.max(...boxes.map((box) => box.x + CARD_WIDTH));
  const bottom = Math.max(...boxes.map((box) => box.y + box.card.height));
  return { x, y, width: right - x, height: bottom - y };
}

/** Offset of one axis that centers `center`, without empty space beyond the ends of the drawing. */
function axisOffset(size: number, start: number, length: number, center: number, zoom: number): number {
  const centered = size / 2 - center * zoom;
  if (length * zoom + 2 * PADDING_PX <= size) return size / 2 - (start + length / 2) * zoom;
  return Math.min(PADDING_PX - start * zoom, Math.max(size - PADDING_PX - (start + length) * zoom, centered));
}

/** The viewport that shows these bounds or, when they would be too small to read, the part around the focus. */
export function fitViewport(bounds: Bounds, focus: Bounds | null, size: CanvasSize): Viewport {
  const { width, height, minZoom } = size;
  const fit = Math.min((width - 2 * PADDING_PX) / bounds.width, (height - 2 * PADDING_PX) / bounds.height, 1);
  const zoom = fit >= minZoom ? fit : minZoom < MIN_READABLE_ZOOM ? minZoom : PARTIAL_ZOOM;
  const center = focus ?? { ...bounds, width: 0, height: 0 };
  return {
    zoom,
    x: axisOffset(width, bounds.x, bounds.width, center.x + center.width / 2, zoom),
    y: axisOffset(height, bounds.y, bounds.height, center.y + center.height / 2, zoom),
  };
}

export const isSameViewport = (a: Viewport, b: Viewport) =>
  Math.abs(a.x - b.x) < 1 && Math.abs(a.y - b.y) < 1 && Math.abs(a.zoom - b.zoom) < 0.001;

const isVisible = (bounds: Bounds, { x, y, zoom }: Viewport, size: CanvasSize) =>
  bounds.x * zoom + x >= 0 &&
  bounds.y * zoom + y >= 0 &&
  (bounds.x + bounds.width) * zoom + x <= size.width &&
  (bounds.y + bounds.height) * zoom + y <= size.height;

/**
 * The viewport after cards were added. The card `anchor` keeps its place on screen if the new cards are then visible.
 * Otherwise the viewport shows the complete drawing if it is readable, or else the new cards with the anchor.
 */
export function viewportAfterGrowth(
  previous: PlacedCards,
  current: PlacedCards,
  anchor: string | null,
  viewport: Viewport,
  size: CanvasSize,
): Viewport {
  const from = anchor === null ? undefined : previous.layout.positions.get(anchor);
  const to = anchor === null ? undefined : current.layout.positions.get(anchor);
  const { zoom } = viewport;
  const anchored =
    from && to
      ? { zoom, x: viewport.x + (from.x - to.x) * zoom, y: viewport.y + (from.y - to.y) * zoom }
      : viewport;
  const added = current.cards.filter((card) => !previous.layout.positions.has(card.key));
  if (added.length === 0 || isVisible(boundsOf(current, added), anchored, size)) return anchored;
  const all = fitViewport(boundsOf(current), null, size);
  if (isVisible(boundsOf(current), all, size)) return all;
  const anchorCard = current.cards.filter((card) => card.key === anchor);
  const focus = anchorCard.length > 0 ? boundsOf(current, anchorCard) : null;
  return fitViewport(boundsOf(current, [...added, ...anchorCard]), focus, size);
}

/**
 * The viewport after the content of a drawing changed that the user has not moved: the complete drawing if it is
 * readable, or else as after growth.
 */
export function viewportAfterChange(
  previous: PlacedCards,
  current: PlacedCards,
  anchor: string | null,
  viewport: Viewport,
  size: CanvasSize,
): Viewport {
  const all = fitViewport(boundsOf(current), null, size);
  return isVisible(boundsOf(current), all, size)
    ? all
    : viewportAfterGrowth(previous, current, anchor, viewport, size);
}
