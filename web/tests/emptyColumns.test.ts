import { expect, test } from 'vitest';
import { columnsWithContent, type TableColumn } from '../src/table/tableModel';

type Row = { readonly owner: string };

const owner: TableColumn<Row> = {
  id: 'owner',
  title: 'Owner',
  width: '80px',
  hidesWhenEmpty: true,
  cell: (row) => row.owner,
  text: (row) => row.owner,
};

test('a column is hidden while no row has a text for it', () => {
  expect(columnsWithContent([owner], [{ owner: '' }])).toEqual([]);
  expect(columnsWithContent([owner], [{ owner: '' }, { owner: 'finance' }])).toEqual([owner]);
});
