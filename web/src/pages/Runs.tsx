/** Jobs with the state and time of their last run, or the page of one job. */
import type { Job } from '../api/answers';
import { fetchJobs } from '../api/queries';
import { appendRows, usePagedQuery } from '../api/usePagedQuery';
import { EmptyState, QueryResult } from '../shell/QueryState';
import { jobKey, readJobKey } from '../state/names';
import { jobPage, navigate, useView } from '../state/view';
import { AnswerTable } from '../table/AnswerTable';
import { JOB_COLUMNS } from '../table/serviceColumns';
import { JobPage } from './JobPage';

const openJob = (job: Job) => navigate(jobPage(jobKey(job)));

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

export default function Runs() {
  const key = useView((view) => view.job);
  if (key === null) return <JobsTable />;
  const job = readJobKey(key);
  if (job !== null) return <JobPage job={job} />;
  return (
    <EmptyState title="Invalid link">
      <p>The link does not name a job. Search for one above.</p>
    </EmptyState>
  );
}
