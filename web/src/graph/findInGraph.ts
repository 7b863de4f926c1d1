/** Finds columns and tables of a drawing by part of their name. */
import type { Card } from './cards';

export interface Match {
  /** Key of the column, or of the table when its name matches. */
  readonly key: string;
  readonly table: string;
  /** Position of the row on its card; -1 for the table itself. */
  readonly row: number;
}

/** The tables and rows whose name contains the text, in the order of the cards. An empty text matches nothing. */
export function matchesInDrawing(cards: readonly Card[], text: string): Match[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return [];
  return cards.flatMap((card) => {
    const rows = card.rows.flatMap((row, index) =>
      row.field.toLowerCase().includes(wanted) ? [{ key: row.key, table: card.key, row: index }] : [],
    );
    const isTable = card.title.toLowerCase().includes(wanted) || card.name.toLowerCase().includes(wanted);
    return isTable ? [{ key: card.key, table: card.key, row: -1 }, ...rows] : rows;
  });
}
