/** Which rows and edges are marked, dimmed or hidden. Separate from the drawing, so that a click needs no new layout. */
import type { Verdict } from '../api/answers';
import { createStore } from '../state/store';
import type { Edge } from './lineageGraph';
import type { Path } from './path';

export type Mark = Verdict | 'added' | 'removed' | 'changed' | 'source';

export interface Highlight {
  /** The column in focus. */
  readonly focus: string | null;
  /** The path through the selected column or edge. */
  readonly path: Path | null;
  /** Marks of columns, by key; used for personal data. */
  readonly columnMarks: ReadonlyMap<string, Mark>;
  readonly hiddenMarks: ReadonlySet<string>;
  readonly kind: 'plain' | 'personal' | 'changes';
}

export const NO_HIGHLIGHT: Highlight = {
  focus: null,
  path: null,
  columnMarks: new Map(),
  hiddenMarks: new Set(),
  kind: 'plain',
};
export const highlightStore = createStore<Highlight>(NO_HIGHLIGHT);

/** The path through the row under the pointer. */
export const hoverStore = createStore<Path | null>(null);

/** The columns that the find field matches, and the one that it is at. */
export interface Found {
  readonly columns: ReadonlySet<string>;
  readonly current: string | null;
}

export const NOTHING_FOUND: Found = { columns: new Set(), current: null };
export const foundStore = createStore<Found>(NOTHING_FOUND);

/** The mark of an edge: its change, or the verdict on the data it carries. */
export function edgeMark(edge: Edge, { kind, columnMarks }: Highlight): Mark | null {
  if (kind === 'changes') return edge.change === 'same' ? null : edge.change;
  if (kind !== 'personal') return null;
  if (!edge.direct) return 'indirect';
  const source = columnMarks.get(edge.from);
  if (edge.masking || source === 'masked') return 'masked';
  return source === 'indirect' ? 'indirect' : (columnMarks.get(edge.to) ?? null);
}

/** Whether the legend hides edges with this mark. */
export const isMarkHidden = (mark: Mark | null, { hiddenMarks }: Highlight) =>
  mark !== null && hiddenMarks.has(mark);
