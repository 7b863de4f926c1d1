/** The drawing on screen, for the export buttons, which are outside the canvas. */
import { createStore } from '../state/store';
import type { Drawing } from './useDrawing';

export const currentDrawing = createStore<Drawing | null>(null);
