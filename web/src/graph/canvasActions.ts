/** What a card can ask of the page. One object for the life of a canvas, so that no card renders for it. */
import { createContext, useContext } from 'react';
import type { Side } from '../state/url';

export interface CanvasActions {
  readonly pick: (key: string) => void;
  readonly focus: (column: string) => void;
  /** Null where cards do not expand. */
  readonly expand: ((table: string, side: Side) => void) | null;
  readonly whole: (table: string) => void;
  readonly filter: (table: string, text: string) => void;
}

const nothing = () => undefined;
const NONE: CanvasActions = { pick: nothing, focus: nothing, expand: null, whole: nothing, filter: nothing };

export const ActionsContext = createContext<CanvasActions>(NONE);
export const useActions = () => useContext(ActionsContext);
