/** Runs: jobs with the state and time of their last run; a job opens the list of its runs. */
import type { Job, JobRef } from '../api/answers';
import { fetchJobs, fetchRuns } from '../api/queries';
import { appendRows, usePagedQuery } from '../api/usePagedQuery';
import { Name } from '../shell/Name';
import { QueryResult } from '../shell/QueryState';
import { navigate, useView } from '../state/view';
import { AnswerTable } from '../table/AnswerTable';
import { JOB_COLUMNS, RUN_COLUMNS } from '../table/serviceColumns';

const jobKey = ({ namespace, name }: JobRef) => JSON.stringify([namespace, name]);

/** Parses the `job` parameter of the URL; null when it is missing or invalid. */
export function readJob(text: string | null): JobRef | null {
  try {
    const value: unknown = JSON.parse(text ?? 'null');
    if (Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'string') {
      return { namespace: value[0], name: value[1] };
    }
  } catch {
    return null;
  }
  return null;
}

const openJob = (job: Job) => navigate({ job: jobKey(job), sort: null });

function JobsTable() {
  const { query, onLoadMore } = usePagedQuery('jobs', fetchJobs, appendRows);
  return (
    <QueryResult query={query}>
      {(answer) => (
        <div className="table-page">
          <AnswerTable
            summary={answer}
            exportName="jobs"
            onLoadMore={onLoadMore}
            label="jobs"
            columns={JOB_COLUMNS}
            rows={answer.rows}
            rowKey={jobKey}
            onSelect={openJob}
            onOpen={openJob}
            emptyText="No jobs yet."
          />
        </div>
      )}
    </QueryResult>
  );
}

function RunsTable({ job }: { job: JobRef }) {
  const { query, onLoadMore } = usePagedQuery(jobKey(job), (cursor) => fetchRuns(job, cursor), appendRows);
  return (
    <div className="table-page">
      <h2 className="breadcrumb">
        <button type="button" className="link" onClick={() => navigate({ job: null, sort: null })}>
          Jobs
        </button>{' '}
        / <Name text={job.name} limit={80} />
      </h2>
      <QueryResult query={query}>
        {(answer) => (
          <AnswerTable
            summary={answer}
            exportName={`runs-${job.name}`}
            onLoadMore={onLoadMore}
            label={`runs of ${job.name}`}
            columns={RUN_COLUMNS}
            rows={answer.rows}
            rowKey={(row) => row.run_id}
            emptyText="No runs yet."
          />
        )}
      </QueryResult>
    </div>
  );
}

export default function Runs() {
  const job = readJob(useView((view) => view.job));
  return job === null ? <JobsTable /> : <RunsTable job={job} />;
}
