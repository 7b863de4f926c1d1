/** What is known about a column in addition to its edges: description, owner, counts, and the code of its writer. */
import { Fragment } from 'react';
import type { Dataset, SchemaColumn } from '../api/answers';
import { fetchDataset, fetchJob, fetchWriters } from '../api/queries';
import { useQuery } from '../api/useQuery';
import { count, visibleCode } from '../format/text';
import type { Edge } from '../graph/lineageGraph';
import { Code } from '../shell/Code';
import { JobLink } from '../shell/Links';
import { Name } from '../shell/Name';
import { QueryResult } from '../shell/QueryState';
import { type ColumnRef, columnKey, type JobRef, jobKey, tableKey } from '../state/names';
import { useView } from '../state/view';

const MAX_WRITERS = 3;

function Counts({ column }: { column: SchemaColumn }) {
  const { up = 0, down = 0, up_conditions: decidedBy = 0, down_conditions: decides = 0 } = column;
  return (
    <dl className="fact counts">
      <dt>by value</dt>
      <dd>
        {count(up)} upstream, {count(down)} downstream
      </dd>
      <dt>by condition</dt>
      <dd>
        decided by {count(decidedBy)}, decides {count(decides)}
      </dd>
    </dl>
  );
}

/** The jobs that write the column, also those that write a constant or a count. */
function WrittenBy({ column }: { column: ColumnRef }) {
  const asOf = useView((view) => view.asOf);
  const query = useQuery(`${columnKey(column)} ${asOf}`, () => fetchWriters(column, asOf));
  const jobs = new Map((query.value?.rows ?? []).map((row) => [jobKey(row.job), row.job]));
  if (jobs.size === 0) return null;
  return (
    <p className="small">
      <span className="muted">written by</span>{' '}
      {[...jobs].slice(0, MAX_WRITERS).map(([key, job], index) => (
        <Fragment key={key}>
          {index > 0 && ', '}
          <JobLink job={job} limit={32} />
        </Fragment>
      ))}
      {jobs.size > MAX_WRITERS && ` and ${count(jobs.size - MAX_WRITERS)} more`}
    </p>
  );
}

export function ColumnNotes({ column }: { column: ColumnRef }) {
  const asOf = useView((view) => view.asOf);
  const query = useQuery(`${tableKey(column)} ${asOf}`, () => fetchDataset(column, asOf));
  return <QueryResult query={query}>{(card) => <Notes card={card} column={column} />}</QueryResult>;
}

function Notes({ card: { table, columns }, column }: { card: Dataset; column: ColumnRef }) {
  const details = columns.find((each) => each.field === column.field);
  const description = details?.description ?? table.description;
  return (
    <>
      {description && <p className="description">{visibleCode(description)}</p>}
      {table.owner && (
        <p>
          <span className="muted">owner</span> <Name text={table.owner} limit={36} />
        </p>
      )}
      {details !== undefined && <Counts column={details} />}
      <WrittenBy key={columnKey(column)} column={column} />
    </>
  );
}

/** The first job that writes the column, by the edges that lead to it. */
export const writerOf = (incoming: readonly Edge[]): JobRef | null =>
  incoming.flatMap((edge) => edge.facts.flatMap((fact) => fact.job ?? []))[0] ?? null;

/** The code of a job, if its events contain it. */
export function WriterCode({ job }: { job: JobRef }) {
  const asOf = useView((view) => view.asOf);
  const query = useQuery(`${jobKey(job)} ${asOf}`, () => fetchJob(job, asOf));
  const card = query.value?.job;
  if (!card || (card.sql === null && card.location === null)) return null;
  return (
    <section>
      <h3>
        Code of <JobLink job={job} limit={28} />
      </h3>
      <Code sql={card.sql} location={card.location} />
    </section>
  );
}
