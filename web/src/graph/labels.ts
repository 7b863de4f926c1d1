/** Symbols and labels of marks, and labels of transformation subtypes. A mark has a symbol in addition to its color. */
import { SHIELD } from '../shell/icons';
import type { Mark } from './highlight';
import type { Edge } from './lineageGraph';

export const MARK_LABELS: Readonly<Record<Mark, { readonly symbol: string; readonly label: string }>> = {
  source: { symbol: '◎', label: 'source' },
  clear: { symbol: '!', label: 'clear' },
  masked: { symbol: '⛨', label: 'masked' },
  indirect: { symbol: '⋯', label: 'indirect' },
  added: { symbol: '+', label: 'added' },
  removed: { symbol: '−', label: 'removed' },
  changed: { symbol: '~', label: 'changed' },
};

const CHANGE_SYMBOLS: Partial<Record<Mark, string>> = {
  added: 'M8 4v8M4 8h8',
  removed: 'M4 8h8',
  changed: 'M4 9c2-3 3-3 4-1s3 1 4-1',
};

/** The symbols at the middle of an edge, as SVG paths of 16 × 16: masking, and its change. */
export function edgeSymbols(edge: Edge, mark: Mark | null): string[] {
  const change = mark === null ? undefined : CHANGE_SYMBOLS[mark];
  return [...(edge.masking ? [SHIELD] : []), ...(change === undefined ? [] : [change])];
}

/** OpenLineage transformation subtypes. */
export const SUBTYPE_LABELS: Readonly<Record<string, string>> = {
  IDENTITY: 'copied as is',
  TRANSFORMATION: 'computed',
  AGGREGATION: 'aggregated',
  JOIN: 'join key',
  FILTER: 'filter',
  GROUP_BY: 'group key',
  SORT: 'sort key',
  WINDOW: 'window',
  CONDITIONAL: 'condition',
};

/** `← 2` for a column or table two hops upstream, `→ 1` for one hop downstream. */
export const distanceText = (distance: number) =>
  distance < 0 ? `← ${-distance}` : distance > 0 ? `→ ${distance}` : '·';

export const subtypeLabel = (subtype: string | null) =>
  subtype === null ? 'unknown' : (SUBTYPE_LABELS[subtype] ?? subtype);
