/** Whether the find field of the graph is open. */
import { createStore } from '../state/store';

export const findOpen = createStore(false);
