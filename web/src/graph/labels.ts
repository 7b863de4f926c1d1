/** The signs for marks and badges: a letter or figure beside each colour, so that colour is never the only sign. */
import type { Mark } from './highlight';

export const SIGNS: Readonly<Record<Mark, { readonly sign: string; readonly word: string }>> = {
  source: { sign: '◎', word: 'source' },
  clear: { sign: '!', word: 'clear' },
  masked: { sign: '⛨', word: 'masked' },
  indirect: { sign: '⋯', word: 'indirect' },
  added: { sign: '+', word: 'added' },
  removed: { sign: '−', word: 'removed' },
  changed: { sign: '~', word: 'changed' },
};

/** Effects in words that need no specification at hand. */
export const EFFECTS: Readonly<Record<string, string>> = {
  IDENTITY: 'taken as is',
  TRANSFORMATION: 'computed',
  AGGREGATION: 'aggregated',
  JOIN: 'join key',
  FILTER: 'filter',
  GROUP_BY: 'group key',
  SORT: 'sort key',
  WINDOW: 'window',
  CONDITIONAL: 'condition',
};

export const effectOf = (subtype: string | null) =>
  subtype === null ? 'not told' : (EFFECTS[subtype] ?? subtype);
