/** Opens the graph of a table. */
import { fetchDataset } from '../api/queries';
import { columnKey, type TableRef, tableKey } from '../state/names';
import { COLUMN_DEFAULTS, navigate, viewStore } from '../state/view';

/** Focuses the column with the most neighbours and shows all columns of the table. */
export async function openTable(table: TableRef): Promise<void> {
  const { columns } = await fetchDataset(table, viewStore.get().asOf);
  const [column] = [...columns].sort((a, b) => (b.up ?? 0) + (b.down ?? 0) - (a.up ?? 0) - (a.down ?? 0));
  if (column === undefined) return;
  navigate({ ...COLUMN_DEFAULTS, mode: 'explore', column: columnKey(column), whole: [tableKey(table)] });
}
