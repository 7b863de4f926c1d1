/** Keyboard control of the canvas: arrows move, Enter opens a column, Space selects it, brackets expand its card. */
import { useReactFlow } from '@xyflow/react';
import { type KeyboardEvent, useCallback } from 'react';
import { tableOf } from '../state/names';
import { type ArrowKey, nextRow } from './arrowKeys';
import type { CanvasActions } from './canvasActions';
import { CARD_WIDTH } from './cards';
import type { Drawing } from './useDrawing';

const ARROW_KEYS: readonly string[] = ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight'];

const rowKeyOf = (target: EventTarget) =>
  (target as Element).closest('[data-row]')?.getAttribute('data-row') ?? null;

const findRow = (key: string) => document.querySelector<HTMLElement>(`[data-row="${CSS.escape(key)}"]`);

const isOnScreen = (element: HTMLElement) => {
  const box = element.getBoundingClientRect();
  const canvas = element.closest('.canvas')?.getBoundingClientRect();
  return (
    canvas !== undefined &&
    box.left >= canvas.left &&
    box.right <= canvas.right &&
    box.top >= canvas.top &&
    box.bottom <= canvas.bottom
  );
};

export function useCanvasKeys(drawing: Drawing, actions: CanvasActions) {
  const flow = useReactFlow();
  const focusRow = useCallback(
    (key: string) => {
      const element = findRow(key);
      element?.focus({ preventScroll: true });
      if (element && isOnScreen(element)) return;
      const position = drawing.layout.positions.get(tableOf(key));
      if (!position) return;
      void flow
        .setCenter(position.x + CARD_WIDTH / 2, position.y + 60, { zoom: Math.max(flow.getZoom(), 0.7) })
        .then(() => requestAnimationFrame(() => findRow(key)?.focus({ preventScroll: true })));
    },
    [drawing, flow],
  );
  return useCallback(
    (event: KeyboardEvent) => {
      const row = rowKeyOf(event.target);
      if (row === null || event.ctrlKey || event.metaKey || event.altKey) return;
      if (ARROW_KEYS.includes(event.key)) {
        const { cards, layout } = drawing;
        const edges = drawing.edgePaths.map(({ edge }) => edge);
        const next = nextRow({ cards, layout, edges }, row, event.key as ArrowKey);
        if (next !== null) focusRow(next);
      } else if (event.key === 'Enter') actions.openColumn(row);
      else if (event.key === ' ') actions.select(row);
      else if (event.key === '[' || event.key === ']')
        actions.expand?.(tableOf(row), event.key === '[' ? 'up' : 'down');
      else return;
      event.preventDefault();
      event.stopPropagation();
    },
    [drawing, actions, focusRow],
  );
}
