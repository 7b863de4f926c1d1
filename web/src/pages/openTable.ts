/** From a table to its graph: its first column in the middle, all its columns on the card. */
import { dataset } from '../api/queries';
import { columnKey, type TableRef, tableKey } from '../state/names';
import { FRESH, go, viewStore } from '../state/view';

/** Opens the graph of a table by the column with most neighbours, since that shows most of it. */
export async function openTable(table: TableRef): Promise<void> {
  const { columns } = await dataset(table, viewStore.get().asOf);
  const most = [...columns].sort((a, b) => (b.up ?? 0) + (b.down ?? 0) - (a.up ?? 0) - (a.down ?? 0))[0];
  if (most !== undefined)
    go({ ...FRESH, mode: 'explore', column: columnKey(most), whole: [tableKey(table)] });
}
