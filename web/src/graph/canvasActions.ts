/** The actions of cards and edges. The object stays the same for the life of a canvas, so that cards do not re-render. */
import { createContext, useContext } from 'react';
import type { Side } from '../state/url';

export interface CanvasActions {
  /** Selects a column or edge; the empty key clears the selection. */
  readonly select: (key: string) => void;
  /** Highlights the path through a column while the pointer is over it; null ends this. */
  readonly hover: (column: string | null) => void;
  readonly openColumn: (column: string) => void;
  /** Shows the tables of a folded part of the path. */
  readonly unfold: (table: string) => void;
  /** Null on pages where cards do not expand. */
  readonly expand: ((table: string, side: Side) => void) | null;
  readonly toggleAllColumns: (table: string) => void;
  readonly filter: (table: string, text: string) => void;
}

const doNothing = () => undefined;
const NO_ACTIONS: CanvasActions = {
  select: doNothing,
  hover: doNothing,
  openColumn: doNothing,
  unfold: doNothing,
  expand: null,
  toggleAllColumns: doNothing,
  filter: doNothing,
};

export const ActionsContext = createContext<CanvasActions>(NO_ACTIONS);
export const useActions = () => useContext(ActionsContext);
