/** The page of a job: its code, inputs and outputs, and the history of its runs. A run opens at the side. */
import { type ReactNode, useMemo } from 'react';
import type { DatasetJson, JobCard, Run } from '../api/answers';
import { fetchJob, fetchRun, fetchRuns } from '../api/queries';
import { appendRows, usePagedQuery } from '../api/usePagedQuery';
import { useQuery } from '../api/useQuery';
import { count, countOf } from '../format/text';
import { RunDetails } from '../panel/RunDetails';
import { Code } from '../shell/Code';
import { TableLink } from '../shell/Links';
import { Name } from '../shell/Name';
import { Owner, PageHeader } from '../shell/PageHeader';
import { QueryResult } from '../shell/QueryState';
import { Timestamp } from '../shell/Timestamp';
import { fullName, type JobRef, jobKey, tableKey } from '../state/names';
import { navigate, useView } from '../state/view';
import { AnswerTable } from '../table/AnswerTable';
import { Layer, State } from '../table/cells';
import { RUN_COLUMNS } from '../table/serviceColumns';
import { RunChart } from './RunChart';

/** Inputs or outputs that are listed before “… more”. */
const MAX_TABLES = 12;

function JobHeader({ job }: { job: JobCard['job'] }) {
  return (
    <PageHeader
      overview={{ title: 'Jobs', to: { mode: 'runs', job: null, run: null, sort: null, pick: null } }}
      title={job.name}
      fullName={fullName(job)}
      marks={<State name={job.last_state} />}
      tags={job.tags}
      description={job.description}
      facts={{
        Owner: <Owner name={job.owner} />,
        Namespace: <Name text={job.namespace} limit={40} />,
        Engine: job.integration?.toLowerCase(),
        'Last run': <Timestamp at={job.last_started} />,
        'Last success': <Timestamp at={job.last_success} />,
        'Last failure': job.last_failure && <Timestamp at={job.last_failure} />,
        'Lineage changed': <Timestamp at={job.changed_at} />,
      }}
    />
  );
}

function TableList({ title, tables }: { title: string; tables: readonly DatasetJson[] }) {
  return (
    <div className="table-list">
      <h2>
        {title} <span className="muted figure">{count(tables.length)}</span>
      </h2>
      <ul>
        {tables.slice(0, MAX_TABLES).map((table) => (
          <li key={tableKey(table)}>
            <TableLink table={table} label={table.label} limit={44} /> <Layer name={table.layer} />
          </li>
        ))}
        {tables.length === 0 && <li className="muted">None known.</li>}
        {tables.length > MAX_TABLES && (
          <li className="muted">{countOf(tables.length - MAX_TABLES, 'more table')}</li>
        )}
      </ul>
    </div>
  );
}

function Parts({ card }: { card: JobCard }) {
  return (
    <div className="job-parts">
      <div className="job-tables">
        <TableList title="Inputs" tables={card.inputs} />
        <TableList title="Outputs" tables={card.outputs} />
      </div>
      <div className="job-code">
        <h2>Code</h2>
        <Code sql={card.job.sql} location={card.job.location} />
      </div>
    </div>
  );
}

/** The open run: from the list until its statistics are loaded. */
function OpenRun({ id, runs }: { id: string; runs: readonly Run[] }) {
  const loaded = useMemo(() => runs.find((run) => run.run_id === id) ?? null, [runs, id]);
  const query = useQuery(id, () => fetchRun(id));
  const run = query.value?.run_id === id ? query.value : loaded;
  let content: ReactNode = null;
  if (run !== null) content = <RunDetails run={run} />;
  else if (query.state === 'done') content = <p className="muted">No run has this id.</p>;
  return <RunPanel>{content}</RunPanel>;
}

function RunPanel({ children }: { children: ReactNode }) {
  return (
    <aside className="panel" aria-label="run">
      {children}
      <button type="button" onClick={() => navigate({ run: null })}>
        Close
      </button>
    </aside>
  );
}

function Runs({ job, card }: { job: JobRef; card: JobCard }) {
  const openRun = useView((view) => view.run);
  const { query, onLoadMore } = usePagedQuery(jobKey(job), (cursor) => fetchRuns(job, cursor), appendRows);
  const toggle = (run: Run) => navigate({ run: run.run_id === openRun ? null : run.run_id });
  return (
    <div className="with-panel">
      <div className="job-main">
        <Parts card={card} />
        <QueryResult query={query}>
          {(answer) => (
            <>
              <RunChart runs={answer.rows} onOpen={toggle} />
              <AnswerTable
                summary={answer}
                exportName={`runs-${job.name}`}
                onLoadMore={onLoadMore}
                label={`runs of ${job.name}`}
                columns={RUN_COLUMNS}
                rows={answer.rows}
                rowKey={(row) => row.run_id}
                selected={openRun}
                onSelect={toggle}
                onOpen={toggle}
                emptyText="No runs yet."
              />
            </>
          )}
        </QueryResult>
      </div>
      {openRun !== null && <OpenRun id={openRun} runs={query.value?.rows ?? []} />}
    </div>
  );
}

export function JobPage({ job }: { job: JobRef }) {
  const asOf = useView((view) => view.asOf);
  const query = useQuery(`${jobKey(job)} ${asOf}`, () => fetchJob(job, asOf));
  return (
    <QueryResult query={query}>
      {(card) => (
        <div className="entity-page">
          <JobHeader job={card.job} />
          <Runs job={job} card={card} />
        </div>
      )}
    </QueryResult>
  );
}
