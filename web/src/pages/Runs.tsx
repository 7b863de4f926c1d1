/** Jobs with their last state and times; a job opens its runs. */
import type { Job, JobRef } from '../api/answers';
import { jobs, runs } from '../api/queries';
import { joinRows, usePages } from '../api/usePagedQuery';
import { Name } from '../shell/Name';
import { Await } from '../shell/QueryState';
import { go, useView } from '../state/view';
import { Listed } from '../table/AnswerTable';
import { JOBS, RUNS } from '../table/serviceColumns';

const jobKey = ({ namespace, name }: JobRef) => JSON.stringify([namespace, name]);

/** The job that a link names; null when it names none. */
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

const open = (job: Job) => go({ job: jobKey(job), sort: null });

function Jobs() {
  const { waiting, onMore } = usePages('jobs', jobs, joinRows);
  return (
    <Await waiting={waiting}>
      {(answer) => (
        <div className="page-of-rows">
          <Listed
            said={answer}
            subject="jobs"
            onMore={onMore}
            label="jobs"
            heads={JOBS}
            rows={answer.rows}
            keyOf={jobKey}
            onPick={open}
            onOpen={open}
            empty="No job has been seen yet."
          />
        </div>
      )}
    </Await>
  );
}

function JobRuns({ job }: { job: JobRef }) {
  const { waiting, onMore } = usePages(jobKey(job), (cursor) => runs(job, cursor), joinRows);
  return (
    <div className="page-of-rows">
      <h2 className="crumb">
        <button type="button" className="link" onClick={() => go({ job: null, sort: null })}>
          Jobs
        </button>{' '}
        / <Name text={job.name} limit={80} />
      </h2>
      <Await waiting={waiting}>
        {(answer) => (
          <Listed
            said={answer}
            subject={`runs-${job.name}`}
            onMore={onMore}
            label={`runs of ${job.name}`}
            heads={RUNS}
            rows={answer.rows}
            keyOf={(row) => row.run_id}
            empty="No run of this job has been seen."
          />
        )}
      </Await>
    </div>
  );
}

export default function Runs() {
  const job = readJob(useView((view) => view.job));
  return job === null ? <Jobs /> : <JobRuns job={job} />;
}
