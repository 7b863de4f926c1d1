/** The page of a table: columns, lineage between tables, writers and readers, and the history of its schema. */
import type { Dataset } from '../api/answers';
import { fetchDataset } from '../api/queries';
import { useQuery } from '../api/useQuery';
import { count } from '../format/text';
import { JobLink } from '../shell/Links';
import { Name } from '../shell/Name';
import { Owner, PageHeader, type Tab, Tabs } from '../shell/PageHeader';
import { QueryResult } from '../shell/QueryState';
import { Timestamp } from '../shell/Timestamp';
import { columnKey, fullName, shortName, type TableRef, tableKey } from '../state/names';
import { openColumn, useView } from '../state/view';
import { AnswerTable } from '../table/AnswerTable';
import { SCHEMA_COLUMNS, SCHEMA_VERSION_COLUMNS, TABLE_JOB_COLUMNS } from '../table/catalogColumns';
import { Layer } from '../table/cells';
import { tableJobs } from '../table/tableJobs';
import { TableLineage } from './TableLineage';

const tableLabel = (card: Dataset) => card.table.label ?? shortName(card.table.name);

function TableHeader({ card }: { card: Dataset }) {
  const { table, writers } = card;
  const [writer] = writers;
  const written = (
    <>
      <Timestamp at={table.last_written} />
      {writer && (
        <>
          {' by '}
          <JobLink job={writer} limit={32} />
          {writers.length > 1 && ` and ${count(writers.length - 1)} more`}
        </>
      )}
    </>
  );
  return (
    <PageHeader
      overview={{ title: 'Tables', to: { mode: 'tables', table: null, tab: null, sort: null, pick: null } }}
      title={tableLabel(card)}
      fullName={fullName(table)}
      marks={<Layer name={table.layer} />}
      tags={table.tags ?? []}
      description={table.description}
      facts={{
        Owner: <Owner name={table.owner} />,
        Domain: table.domain && <Name text={table.domain} limit={32} />,
        Kind: table.kind?.toLowerCase(),
        Written: written,
        Read: <Timestamp at={table.last_read} />,
        'First seen': <Timestamp at={table.first_seen} />,
        Dropped: table.dropped_at && <Timestamp at={table.dropped_at} />,
      }}
    />
  );
}

function Columns({ card }: { card: Dataset }) {
  return (
    <AnswerTable
      summary={card}
      exportName={`${tableLabel(card)}-columns`}
      label="columns of the table"
      columns={SCHEMA_COLUMNS}
      rows={card.columns}
      rowKey={columnKey}
      onSelect={(row) => openColumn(columnKey(row))}
      onOpen={(row) => openColumn(columnKey(row))}
      emptyText="No known columns."
    />
  );
}

function WritersAndReaders({ card }: { card: Dataset }) {
  return (
    <AnswerTable
      summary={card}
      exportName={`${tableLabel(card)}-jobs`}
      label="writers and readers of the table"
      columns={TABLE_JOB_COLUMNS}
      rows={tableJobs(card)}
      rowKey={(row) => JSON.stringify([row.role, row.job])}
      emptyText="No known job writes or reads this table."
    />
  );
}

function SchemaHistory({ card }: { card: Dataset }) {
  return (
    <AnswerTable
      summary={card}
      exportName={`${tableLabel(card)}-schemas`}
      label="schemas of the table"
      columns={SCHEMA_VERSION_COLUMNS}
      rows={card.schemas}
      rowKey={(row) => JSON.stringify(row)}
      emptyText="No known schema."
    />
  );
}

function tabsOf(card: Dataset): readonly Tab[] {
  return [
    { id: 'columns', title: `Columns ${count(card.columns.length)}`, content: () => <Columns card={card} /> },
    { id: 'lineage', title: 'Lineage', content: () => <TableLineage card={card} /> },
    {
      id: 'jobs',
      title: `Writers and readers ${count(card.writers.length + card.readers.length)}`,
      content: () => <WritersAndReaders card={card} />,
    },
    {
      id: 'schema',
      title: `Schema history ${count(card.schemas.length)}`,
      content: () => <SchemaHistory card={card} />,
    },
  ];
}

export function TablePage({ table }: { table: TableRef }) {
  const asOf = useView((view) => view.asOf);
  const query = useQuery(`${tableKey(table)} ${asOf}`, () => fetchDataset(table, asOf));
  return (
    <QueryResult query={query}>
      {(card) => (
        <div className="entity-page">
          <TableHeader card={card} />
          <Tabs tabs={tabsOf(card)} label="Parts of the page" />
        </div>
      )}
    </QueryResult>
  );
}
