/** The drawing on screen, for those who save it or act on it from outside the canvas. */
import { createStore } from '../state/store';
import type { Drawing } from './useDrawing';

export const drawn = createStore<Drawing | null>(null);
export const setDrawn = (drawing: Drawing | null) => drawn.set(drawing);
