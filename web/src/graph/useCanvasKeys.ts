/** Keys on the canvas: arrows move, Enter focuses, Space pins, brackets expand. */
import { useReactFlow } from '@xyflow/react';
import { type KeyboardEvent, useCallback } from 'react';
import { tableOf } from '../state/names';
import { type Arrow, stepFrom } from './arrowKeys';
import type { CanvasActions } from './canvasActions';
import { CARD_WIDTH } from './cards';
import type { Drawing } from './useDrawing';

const ARROWS: readonly string[] = ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight'];

const rowAt = (target: EventTarget) =>
  (target as Element).closest('[data-row]')?.getAttribute('data-row') ?? null;

const elementOf = (key: string) => document.querySelector<HTMLElement>(`[data-row="${CSS.escape(key)}"]`);

const isInSight = (element: HTMLElement) => {
  const box = element.getBoundingClientRect();
  const frame = element.closest('.canvas')?.getBoundingClientRect();
  return (
    frame !== undefined &&
    box.left >= frame.left &&
    box.right <= frame.right &&
    box.top >= frame.top &&
    box.bottom <= frame.bottom
  );
};

export function useArrows(drawing: Drawing, actions: CanvasActions) {
  const flow = useReactFlow();
  const show = useCallback(
    (key: string) => {
      const element = elementOf(key);
      element?.focus({ preventScroll: true });
      if (element && isInSight(element)) return;
      const place = drawing.layout.places.get(tableOf(key));
      if (!place) return;
      void flow
        .setCenter(place.x + CARD_WIDTH / 2, place.y + 60, { zoom: Math.max(flow.getZoom(), 0.7) })
        .then(() => requestAnimationFrame(() => elementOf(key)?.focus({ preventScroll: true })));
    },
    [drawing, flow],
  );
  return useCallback(
    (event: KeyboardEvent) => {
      const row = rowAt(event.target);
      if (row === null || event.ctrlKey || event.metaKey || event.altKey) return;
      const edges = drawing.lines.map((line) => line.edge);
      if (ARROWS.includes(event.key)) {
        const next = stepFrom(
          { cards: drawing.cards, layout: drawing.layout, edges },
          row,
          event.key as Arrow,
        );
        if (next !== null) show(next);
      } else if (event.key === 'Enter') actions.focus(row);
      else if (event.key === ' ') actions.pick(row);
      else if (event.key === '[' || event.key === ']')
        actions.expand?.(tableOf(row), event.key === '[' ? 'up' : 'down');
      else return;
      event.preventDefault();
      event.stopPropagation();
    },
    [drawing, actions, show],
  );
}
