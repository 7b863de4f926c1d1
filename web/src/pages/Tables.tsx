/** The list of all tables, or the page of one table. */
import { fetchDatasets } from '../api/queries';
import { appendRows, usePagedQuery } from '../api/usePagedQuery';
import { EmptyState, QueryResult } from '../shell/QueryState';
import { readTableKey, tableKey } from '../state/names';
import { navigate, tablePage, useView } from '../state/view';
import { AnswerTable } from '../table/AnswerTable';
import { TABLE_COLUMNS } from '../table/catalogColumns';
import { TablePage } from './TablePage';

function AllTables() {
  const { query, onLoadMore } = usePagedQuery('tables', fetchDatasets, appendRows);
  return (
    <QueryResult query={query}>
      {(answer) => (
        <div className="table-page">
          <AnswerTable
            summary={answer}
            exportName="tables"
            onLoadMore={onLoadMore}
            label="tables"
            columns={TABLE_COLUMNS}
            rows={answer.rows}
            rowKey={tableKey}
            onSelect={(row) => navigate(tablePage(tableKey(row)))}
            onOpen={(row) => navigate(tablePage(tableKey(row)))}
            emptyText="No tables yet."
          />
        </div>
      )}
    </QueryResult>
  );
}

export default function Tables() {
  const key = useView((view) => view.table);
  if (key === null) return <AllTables />;
  const table = readTableKey(key);
  if (table !== null) return <TablePage table={table} />;
  return (
    <EmptyState title="Invalid link">
      <p>The link does not name a table. Search for one above.</p>
    </EmptyState>
  );
}
