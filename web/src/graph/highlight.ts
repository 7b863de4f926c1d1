/** How rows and lines are marked in the present mode, kept apart from where they are. */
import type { Verdict } from '../api/answers';
import { createStore } from '../state/store';
import type { Edge } from './lineageGraph';
import type { Path } from './path';

export type Mark = Verdict | 'added' | 'removed' | 'changed' | 'source';

export interface Paint {
  readonly focus: string | null;
  readonly path: Path | null;
  /** Marks of columns, by key; empty outside personal data and changes. */
  readonly rows: ReadonlyMap<string, Mark>;
  readonly hidden: ReadonlySet<string>;
  readonly kind: 'plain' | 'personal' | 'changes';
}

export const PLAIN: Paint = { focus: null, path: null, rows: new Map(), hidden: new Set(), kind: 'plain' };
export const paint = createStore<Paint>(PLAIN);

/** The mark of a line: of its own change, or of what it carries. */
export function markOf(edge: Edge, { kind, rows }: Paint): Mark | null {
  if (kind === 'changes') return edge.change === 'same' ? null : edge.change;
  if (kind !== 'personal') return null;
  if (!edge.direct) return 'indirect';
  const from = rows.get(edge.from);
  if (edge.masking || from === 'masked') return 'masked';
  return from === 'indirect' ? 'indirect' : (rows.get(edge.to) ?? null);
}

/** Whether a line is left out because the legend hides its mark. */
export const isHidden = (mark: Mark | null, { hidden }: Paint) => mark !== null && hidden.has(mark);
