/** Verdict questions about the column in focus: may it be dropped, who writes it. */
import type { Droppable } from '../api/answers';
import { droppable, writers } from '../api/queries';
import { useAnswer } from '../api/useQuery';
import { countOf } from '../format/text';
import { Await } from '../shell/QueryState';
import { type ColumnRef, columnKey, shortName } from '../state/names';
import { useView } from '../state/view';
import { Listed } from '../table/AnswerTable';
import { READERS, WRITERS } from '../table/verdictColumns';

const SIGN = { yes: '✓', no: '!', unknown: '?' } as const;
const MARK = { yes: 'mark-masked', no: 'mark-clear', unknown: 'mark-indirect' } as const;

function DropVerdict({ row }: { row: Droppable }) {
  return (
    <p className={`big-verdict ${MARK[row.verdict]}`}>
      <span aria-hidden="true">{SIGN[row.verdict]}</span> {row.verdict}
      <span className="why">
        {countOf(row.readers?.length ?? 0, 'live reader')}
        {(row.retired?.length ?? 0) > 0 && `, ${countOf(row.retired?.length ?? 0, 'earlier one')}`}
      </span>
    </p>
  );
}

export function DroppableList({ column }: { column: ColumnRef }) {
  const asOf = useView((view) => view.asOf);
  const waiting = useAnswer(`${columnKey(column)} ${asOf}`, () => droppable(column, asOf));
  return (
    <Await waiting={waiting}>
      {(answer) => {
        const row = answer.rows.find((each) => each.field === column.field) ?? answer.rows[0];
        const readers = row?.readers ?? [];
        const retired = (row?.retired ?? []).map((reader) => ({
          ...reader,
          use: `${reader.use ?? ''}, no longer`,
        }));
        const all = [...readers, ...retired];
        return (
          <Listed
            said={answer}
            subject={`${shortName(column.name)}.${column.field}-readers`}
            label="readers of the column"
            heads={READERS}
            rows={all}
            keyOf={(reader) => JSON.stringify([reader.job, reader.use, reader.kind, reader.last_read])}
            empty="No job has ever been seen to read it."
          >
            {row !== undefined && <DropVerdict row={row} />}
          </Listed>
        );
      }}
    </Await>
  );
}

export function WritersList({ column }: { column: ColumnRef }) {
  const asOf = useView((view) => view.asOf);
  const waiting = useAnswer(`${columnKey(column)} ${asOf}`, () => writers(column, asOf));
  return (
    <Await waiting={waiting}>
      {(answer) => (
        <Listed
          said={answer}
          subject={`${shortName(column.name)}.${column.field}-writers`}
          label="jobs that write the column"
          heads={WRITERS}
          rows={answer.rows}
          keyOf={(row) => JSON.stringify([row.job.namespace, row.job.name, row.definition])}
          empty="No job has been seen to write it: it comes from outside, or its writer is not known."
        />
      )}
    </Await>
  );
}
