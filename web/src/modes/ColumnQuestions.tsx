/** Verdict questions about the column in focus: may it be dropped, who writes it. */
import type { Droppable } from '../api/answers';
import { droppable, writers } from '../api/questions';
import { useAnswer } from '../api/useAnswer';
import { Export } from '../frame/Export';
import { Await } from '../frame/States';
import { VerdictLine } from '../frame/VerdictLine';
import { Table } from '../list/Table';
import { READERS, WRITERS } from '../list/verdictHeads';
import { type ColumnRef, columnKey, shortName } from '../state/names';
import { useView } from '../state/view';

const SIGN = { yes: '✓', no: '!', unknown: '?' } as const;
const MARK = { yes: 'mark-masked', no: 'mark-clear', unknown: 'mark-indirect' } as const;

function DropVerdict({ row }: { row: Droppable }) {
  return (
    <p className={`big-verdict ${MARK[row.verdict]}`}>
      <span aria-hidden="true">{SIGN[row.verdict]}</span> {row.verdict}
      {row.why && <span className="why">{row.why}</span>}
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
          <>
            <VerdictLine verdicts={[answer.verdict]} asOf={answer.as_of} unknown={answer.unknown ?? []}>
              <Export
                subject={`${shortName(column.name)}.${column.field}-readers`}
                heads={READERS}
                rows={all}
              />
            </VerdictLine>
            {row !== undefined && <DropVerdict row={row} />}
            <div className="list">
              <Table
                label="readers of the column"
                heads={READERS}
                rows={all}
                keyOf={(reader) => JSON.stringify([reader.job, reader.use, reader.kind, reader.last_read])}
                empty="No job has ever been seen to read it."
              />
            </div>
          </>
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
        <>
          <VerdictLine verdicts={[answer.verdict]} asOf={answer.as_of} unknown={answer.unknown ?? []}>
            <Export
              subject={`${shortName(column.name)}.${column.field}-writers`}
              heads={WRITERS}
              rows={answer.rows}
            />
          </VerdictLine>
          <div className="list">
            <Table
              label="jobs that write the column"
              heads={WRITERS}
              rows={answer.rows}
              keyOf={(row) => JSON.stringify([row.job.namespace, row.job.name, row.definition])}
              empty="No job has been seen to write it: it comes from outside, or its writer is not known."
            />
          </div>
        </>
      )}
    </Await>
  );
}
