/** Tables about the column in focus: its readers, which decide whether it can be dropped, and its writers. */
import type { Droppable, Evidence, Reader } from '../api/answers';
import { fetchDroppable, fetchWriters } from '../api/queries';
import { useQuery } from '../api/useQuery';
import { count, countOf } from '../format/text';
import { historyLength, utcTime } from '../format/time';
import { Name } from '../shell/Name';
import { QueryResult } from '../shell/QueryState';
import { type ColumnRef, columnKey, shortName } from '../state/names';
import { useView } from '../state/view';
import { AnswerTable } from '../table/AnswerTable';
import { READER_COLUMNS, WRITER_COLUMNS } from '../table/verdictColumns';

const SYMBOL = { yes: '✓', no: '!', unknown: '?' } as const;
const MARK_CLASS = { yes: 'mark-masked', no: 'mark-clear', unknown: 'mark-indirect' } as const;

const columnLabel = (column: ColumnRef) => `${shortName(column.name)}.${column.field}`;

/** The number of jobs among readers: a job that derives several columns is listed for each of them. */
const countJobs = (readers: readonly Reader[] = []) =>
  new Set(readers.map(({ job }) => JSON.stringify([job?.namespace, job?.name]))).size;

/** How long and from where reads are recorded, and what cannot be seen, in the words of the command line. */
function EvidenceLine({ evidence }: { evidence: Evidence }) {
  const { seconds, since, until, jobs, queries, sources, sources_left_out: leftOut } = evidence;
  return (
    <p className="evidence muted">
      Reads are recorded for{' '}
      <span title={`${utcTime(since)} to ${utcTime(until)}`}>{historyLength(seconds)}</span> from{' '}
      {countOf(jobs, 'job')}
      {sources.length > 0 && (
        <>
          {' in '}
          <Name text={sources.join(', ')} limit={120} />
          {leftOut > 0 && ` and ${count(leftOut)} more`}
        </>
      )}
      {queries > 0 && `, ${count(queries)} of them with queries that write nothing`}. Not visible:{' '}
      {evidence.not_visible.join(', ')}.
    </p>
  );
}

function DropVerdict({ row }: { row: Droppable }) {
  const readers = countJobs(row.readers);
  const formerReaders = countJobs(row.retired);
  return (
    <p className={`drop-verdict ${MARK_CLASS[row.verdict]}`}>
      <span aria-hidden="true">{SYMBOL[row.verdict]}</span> {row.verdict}
      <span className="reason">
        {countOf(readers, 'active reader')}
        {formerReaders > 0 && `, ${countOf(formerReaders, 'former reader')}`}
        {row.confidence && `; confidence: ${row.confidence}`}
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
            rowKey={({ job, use, kind, last_read, into }) =>
              JSON.stringify([job, use, kind, last_read, into?.id])
            }
            emptyText="No known job reads this column."
          >
            {row !== undefined && <DropVerdict row={row} />}
            <EvidenceLine evidence={answer.evidence} />
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
