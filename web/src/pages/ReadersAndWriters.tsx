/** Tables about the column in focus: its readers, which decide whether it can be dropped, and its writers. */
import type { Droppable, Reader } from '../api/answers';
import { fetchDroppable, fetchWriters } from '../api/queries';
import { useQuery } from '../api/useQuery';
import { countOf } from '../format/text';
import { QueryResult } from '../shell/QueryState';
import { type ColumnRef, columnKey, shortName } from '../state/names';
import { useView } from '../state/view';
import { AnswerTable } from '../table/AnswerTable';
import { READER_COLUMNS, WRITER_COLUMNS } from '../table/verdictColumns';

const SYMBOL = { yes: '✓', no: '!', unknown: '?' } as const;
const MARK_CLASS = { yes: 'mark-masked', no: 'mark-clear', unknown: 'mark-indirect' } as const;

const columnLabel = (column: ColumnRef) => `${shortName(column.name)}.${column.field}`;

function DropVerdict({ row }: { row: Droppable }) {
  const readers = row.readers?.length ?? 0;
  const formerReaders = row.retired?.length ?? 0;
  return (
    <p className={`drop-verdict ${MARK_CLASS[row.verdict]}`}>
      <span aria-hidden="true">{SYMBOL[row.verdict]}</span> {row.verdict}
      <span className="reason">
        {countOf(readers, 'active reader')}
        {formerReaders > 0 && `, ${countOf(formerReaders, 'former reader')}`}
      </span>
    </p>
  );
}

/** Active readers, then former readers, marked as such. */
function allReaders(row: Droppable | undefined): Reader[] {
  const former = (row?.retired ?? []).map((reader) => ({ ...reader, use: `${reader.use ?? ''} (former)` }));
  return [...(row?.readers ?? []), ...former];
}

export function ReadersTable({ column }: { column: ColumnRef }) {
  const asOf = useView((view) => view.asOf);
  const query = useQuery(`${columnKey(column)} ${asOf}`, () => fetchDroppable(column, asOf));
  return (
    <QueryResult query={query}>
      {(answer) => {
        const row = answer.rows.find((each) => each.field === column.field) ?? answer.rows[0];
        return (
          <AnswerTable
            summary={answer}
            exportName={`${columnLabel(column)}-readers`}
            label="readers of the column"
            columns={READER_COLUMNS}
            rows={allReaders(row)}
            rowKey={(reader) => JSON.stringify([reader.job, reader.use, reader.kind, reader.last_read])}
            emptyText="No known job reads this column."
          >
            {row !== undefined && <DropVerdict row={row} />}
          </AnswerTable>
        );
      }}
    </QueryResult>
  );
}

export function WritersTable({ column }: { column: ColumnRef }) {
  const asOf = useView((view) => view.asOf);
  const query = useQuery(`${columnKey(column)} ${asOf}`, () => fetchWriters(column, asOf));
  return (
    <QueryResult query={query}>
      {(answer) => (
        <AnswerTable
          summary={answer}
          exportName={`${columnLabel(column)}-writers`}
          label="jobs that write the column"
          columns={WRITER_COLUMNS}
          rows={answer.rows}
          rowKey={(row) => JSON.stringify([row.job.namespace, row.job.name, row.definition])}
          emptyText="No known job writes this column. It may be an external source."
        />
      )}
    </QueryResult>
  );
}
