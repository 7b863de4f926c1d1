/**
 * What is in sight: all of a new drawing. When it grows, the card that was clicked stays where it is, unless what
 * came would be out of sight: then all is shown if it can be read, else that card with what came.
 */
import { useReactFlow, type Viewport } from '@xyflow/react';
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { CARD_WIDTH } from './cards';
import type { Place } from './layout';
import type { Drawing } from './useDrawing';

const PADDING = 32;
/** Five tables side by side and the panel fit a window of 1280. */
const READABLE = 0.5;
/** What does not fit is shown in part, and then larger. */
const IN_PART = 0.55;
export const MIN_ZOOM = 0.02;
/** Below these, rows cannot be read, and then not even names. */
const FAR = 0.4;
const SPECKS = 0.16;

interface Bounds {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

function boundsOf(drawing: Drawing, cards = drawing.cards): Bounds {
  const boxes = cards.map((card) => ({ ...(drawing.layout.places.get(card.key) as Place), card }));
  const x = Math.min(...boxes.map((box) => box.x));
  const y = Math.min(...boxes.map((box) => box.y));
  const right = Math.max(...boxes.map((box) => box.x + CARD_WIDTH));
  const bottom = Math.max(...boxes.map((box) => box.y + box.card.height));
  return { x, y, width: right - x, height: bottom - y };
}

/** Where one axis of the drawing starts so that `middle` is in the middle, without empty space past its ends. */
function start(size: number, from: number, length: number, middle: number, zoom: number): number {
  const centred = size / 2 - middle * zoom;
  if (length * zoom + 2 * PADDING <= size) return size / 2 - (from + length / 2) * zoom;
  return Math.min(PADDING - from * zoom, Math.max(size - PADDING - (from + length) * zoom, centred));
}

/** The viewport that shows these bounds, or, where that would be too small to read, the part around the focus. */
export function viewportFor(
  bounds: Bounds,
  focus: Bounds | null,
  { width, height, least }: { width: number; height: number; least: number },
): Viewport {
  const fit = Math.min((width - 2 * PADDING) / bounds.width, (height - 2 * PADDING) / bounds.height, 1);
  const zoom = fit >= least ? fit : least < READABLE ? least : IN_PART;
  const seen = focus ?? { ...bounds, width: 0, height: 0 };
  return {
    zoom,
    x: start(width, bounds.x, bounds.width, seen.x + seen.width / 2, zoom),
    y: start(height, bounds.y, bounds.height, seen.y + seen.height / 2, zoom),
  };
}

export function useViewport(
  drawing: Drawing,
  subject: string,
  focusTable: string | null,
  frame: RefObject<HTMLDivElement | null>,
) {
  const flow = useReactFlow();
  // A viewport that is set before the canvas can zoom is lost.
  const [ready, setReady] = useState(false);
  const onInit = useCallback(() => setReady(true), []);
  const before = useRef<{ subject: string; drawing: Drawing } | null>(null);
  const fit = useRef<(() => Viewport) | null>(null);
  const shown = useRef<Viewport | null>(null);
  useLayoutEffect(() => {
    const element = frame.current;
    if (!ready || element === null || drawing.cards.length === 0) return;
    const old = before.current;
    before.current = { subject, drawing };
    const focus = drawing.cards.find((card) => card.key === focusTable);
    const place = focus && drawing.layout.places.get(focus.key);
    const seen = focus && place ? { ...place, width: CARD_WIDTH, height: focus.height } : null;
    const bounds = boundsOf(drawing);
    const whole = () => viewportFor(bounds, seen, sizeOf(element, READABLE));
    if (old?.subject === subject) {
      const now = flow.getViewport();
      const next = grown(old.drawing, drawing, anchorOf(focusTable), now, sizeOf(element, READABLE));
      if (isSame(next, now)) return;
      fit.current = whole;
      // Part of a drawing stays as it is when the window changes.
      shown.current = isSame(show(flow, element, next), whole()) ? next : null;
      return;
    }
    fit.current = whole;
    shown.current = show(flow, element, whole());
  }, [drawing, subject, focusTable, flow, frame, ready]);
  useEffect(() => {
    const element = frame.current;
    if (!ready || element === null) return;
    // The list comes later than the graph and takes room from it; what a person has moved stays as it is.
    const observer = new ResizeObserver(() => {
      if (shown.current && fit.current && isSame(shown.current, flow.getViewport())) {
        shown.current = show(flow, element, fit.current());
      }
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [flow, frame, ready]);
  const onMove = useCallback(
    (event: MouseEvent | TouchEvent | null, { zoom }: Viewport) => {
      if (frame.current === null) return;
      simplify(frame.current, zoom);
      // Not from the start: a press that does not move is a click, and belongs to what is under it.
      if (event?.type === 'mousemove') frame.current.classList.add('dragged');
    },
    [frame],
  );
  // A layer of its own while it moves, so that a frame is a shift and not a painting; not longer, or text would blur.
  const onMoveStart = useCallback(() => frame.current?.classList.add('moving'), [frame]);
  const onMoveEnd = useCallback(() => frame.current?.classList.remove('moving', 'dragged'), [frame]);
  const showAll = useCallback(() => {
    const element = frame.current;
    if (element !== null)
      show(flow, element, viewportFor(boundsOf(drawing), null, sizeOf(element, MIN_ZOOM)));
  }, [drawing, flow, frame]);
  return { onMove, onMoveStart, onMoveEnd, onInit, showAll };
}

const sizeOf = (element: HTMLElement, least: number) => ({
  width: element.clientWidth,
  height: element.clientHeight,
  least,
});

function simplify(element: HTMLElement, zoom: number): void {
  element.classList.toggle('far', zoom < FAR);
  element.classList.toggle('specks', zoom < SPECKS);
}

function show(flow: ReturnType<typeof useReactFlow>, element: HTMLElement, next: Viewport): Viewport {
  void flow.setViewport(next);
  simplify(element, next.zoom);
  return next;
}

const isSame = (a: Viewport, b: Viewport) =>
  Math.abs(a.x - b.x) < 1 && Math.abs(a.y - b.y) < 1 && Math.abs(a.zoom - b.zoom) < 0.001;

/** The card whose button was clicked, else the one the picture is about. */
const anchorOf = (focusTable: string | null) =>
  document.activeElement?.closest('.react-flow__node')?.getAttribute('data-id') ?? focusTable;

/** The viewport after a drawing grew: as it was around the anchor, if what came is in sight. */
export function grown(
  old: Drawing,
  now: Drawing,
  anchor: string | null,
  before: Viewport,
  size: { width: number; height: number; least: number },
): Viewport {
  const from = anchor === null ? undefined : old.layout.places.get(anchor);
  const to = anchor === null ? undefined : now.layout.places.get(anchor);
  const { zoom } = before;
  const kept =
    from && to
      ? { zoom, x: before.x + (from.x - to.x) * zoom, y: before.y + (from.y - to.y) * zoom }
      : before;
  const came = now.cards.filter((card) => !old.layout.places.has(card.key));
  if (came.length === 0 || isInSight(boundsOf(now, came), kept, size)) return kept;
  const all = viewportFor(boundsOf(now), null, size);
  if (isInSight(boundsOf(now), all, size)) return all;
  const near = now.cards.filter((card) => card.key === anchor);
  return viewportFor(boundsOf(now, [...came, ...near]), near.length ? boundsOf(now, near) : null, size);
}

const isInSight = (bounds: Bounds, { x, y, zoom }: Viewport, size: { width: number; height: number }) =>
  bounds.x * zoom + x >= 0 &&
  bounds.y * zoom + y >= 0 &&
  (bounds.x + bounds.width) * zoom + x <= size.width &&
  (bounds.y + bounds.height) * zoom + y <= size.height;
