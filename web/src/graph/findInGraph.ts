/** Finds columns and tables of a drawing by part of their name. */
import { tableKey } from '../state/names';
import type { Card } from './cards';
import { FOLD_NAMESPACE } from './fold';
import type { LineageGraph } from './lineageGraph';

export interface Match {
  /** Key of the column, or of the table when its name matches. */
  readonly key: string;
  readonly table: string;
  /** Position of the row on its card; -1 for the table itself. */
  readonly row: number;
}

const contains = (text: string, wanted: string) => text.toLowerCase().includes(wanted);

/** The tables and rows whose name contains the text, in the order of the cards. An empty text matches nothing. */
export function matchesInDrawing(cards: readonly Card[], text: string): Match[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return [];
  return cards.flatMap((card) => {
    const rows = card.rows.flatMap((row, index) =>
      contains(row.field, wanted) ? [{ key: row.key, table: card.key, row: index }] : [],
    );
    const isTable = contains(card.title, wanted) || contains(card.name, wanted);
    return isTable ? [{ key: card.key, table: card.key, row: -1 }, ...rows] : rows;
  });
}

/** Keys of the folded tables whose name, or the name of one of their columns, contains the text. */
export function matchesInFolds(cards: readonly Card[], loaded: LineageGraph, text: string): string[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '' || !cards.some((card) => card.namespace === FOLD_NAMESPACE)) return [];
  const drawn = new Set(cards.map((card) => card.key));
  const matching = [...loaded.columns.values()].filter(
    (column) => contains(column.field, wanted) || contains(column.table, wanted),
  );
  return [...new Set(matching.map(tableKey))].filter((table) => !drawn.has(table)).sort();
}
