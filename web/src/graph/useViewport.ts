/** Sets zoom and pan of the canvas when the drawing or the window changes. */
import { useReactFlow, type Viewport } from '@xyflow/react';
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { CARD_WIDTH } from './cards';
import type { Drawing } from './useDrawing';
import {
  type Bounds,
  boundsOf,
  type CanvasSize,
  fitViewport,
  isSameViewport,
  MIN_READABLE_ZOOM,
  MIN_ZOOM,
  viewportAfterChange,
  viewportAfterGrowth,
} from './viewport';

/** Below this zoom, cards show only their names. */
const NAMES_ONLY_ZOOM = 0.4;
/** Below this zoom, cards are plain blocks. */
const BLOCKS_ONLY_ZOOM = 0.16;

export function useViewport(
  drawing: Drawing,
  subject: string,
  focusTable: string | null,
  canvas: RefObject<HTMLDivElement | null>,
) {
  const flow = useReactFlow();
  // React Flow ignores a viewport that is set before it is initialized.
  const [ready, setReady] = useState(false);
  const onInit = useCallback(() => setReady(true), []);
  const last = useRef<{ subject: string; drawing: Drawing } | null>(null);
  const fit = useRef<(() => Viewport) | null>(null);
  const fitted = useRef<Viewport | null>(null);
  useLayoutEffect(() => {
    const element = canvas.current;
    if (!ready || element === null || drawing.cards.length === 0) return;
    const previous = last.current;
    last.current = { subject, drawing };
    const bounds = boundsOf(drawing);
    const focus = cardBounds(drawing, focusTable);
    const fitDrawing = () => fitViewport(bounds, focus, sizeOf(element, MIN_READABLE_ZOOM));
    if (previous?.subject !== subject) {
      fit.current = fitDrawing;
      fitted.current = applyViewport(flow, element, fitDrawing());
      return;
    }
    const current = flow.getViewport();
    const size = sizeOf(element, MIN_READABLE_ZOOM);
    const isUnmoved = fitted.current !== null && isSameViewport(fitted.current, current);
    const next = isUnmoved
      ? viewportAfterChange(previous.drawing, drawing, anchorTable(focusTable), current, size)
      : viewportAfterGrowth(previous.drawing, drawing, anchorTable(focusTable), current, size);
    if (isSameViewport(next, current)) return;
    fit.current = fitDrawing;
    // A viewport that shows only a part stays when the window changes.
    fitted.current = isSameViewport(applyViewport(flow, element, next), fitDrawing()) ? next : null;
  }, [drawing, subject, focusTable, flow, canvas, ready]);
  useEffect(() => {
    const element = canvas.current;
    if (!ready || element === null) return;
    // The table is rendered after the graph and reduces its height. A viewport that the user has moved stays.
    const observer = new ResizeObserver(() => {
      if (fitted.current && fit.current && isSameViewport(fitted.current, flow.getViewport())) {
        fitted.current = applyViewport(flow, element, fit.current());
      }
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [flow, canvas, ready]);
  const showAll = useCallback(() => {
    const element = canvas.current;
    if (element === null) return;
    applyViewport(flow, element, fitViewport(boundsOf(drawing), null, sizeOf(element, MIN_ZOOM)));
  }, [drawing, flow, canvas]);
  return { onInit, showAll, ...useMoveHandlers(canvas) };
}

/** CSS classes while the canvas moves, and for its level of detail. */
function useMoveHandlers(canvas: RefObject<HTMLDivElement | null>) {
  const onMove = useCallback(
    (event: MouseEvent | TouchEvent | null, { zoom }: Viewport) => {
      if (canvas.current === null) return;
      setDetailLevel(canvas.current, zoom);
      // Not in onMoveStart: a press without a move is a click on the element below.
      if (event?.type === 'mousemove') canvas.current.classList.add('dragged');
    },
    [canvas],
  );
  // While it moves, the canvas is a compositor layer, so that no frame is repainted. At rest, that would blur text.
  const onMoveStart = useCallback(() => canvas.current?.classList.add('moving'), [canvas]);
  const onMoveEnd = useCallback(() => canvas.current?.classList.remove('moving', 'dragged'), [canvas]);
  return { onMove, onMoveStart, onMoveEnd };
}

const sizeOf = (element: HTMLElement, minZoom: number): CanvasSize => ({
  width: element.clientWidth,
  height: element.clientHeight,
  minZoom,
});

function cardBounds(drawing: Drawing, table: string | null): Bounds | null {
  const card = drawing.cards.find((each) => each.key === table);
  const position = card && drawing.layout.positions.get(card.key);
  return card && position ? { ...position, width: CARD_WIDTH, height: card.height } : null;
}

function setDetailLevel(element: HTMLElement, zoom: number): void {
  element.classList.toggle('names-only', zoom < NAMES_ONLY_ZOOM);
  element.classList.toggle('blocks-only', zoom < BLOCKS_ONLY_ZOOM);
}

function applyViewport(
  flow: ReturnType<typeof useReactFlow>,
  element: HTMLElement,
  viewport: Viewport,
): Viewport {
  void flow.setViewport(viewport);
  setDetailLevel(element, viewport.zoom);
  return viewport;
}

/** The card whose button was clicked, or else the card in focus. */
const anchorTable = (focusTable: string | null) =>
  document.activeElement?.closest('.react-flow__node')?.getAttribute('data-id') ?? focusTable;
