/** How one column makes another: expression, effect, job, first and last seen, runs. */
import { count } from '../format/text';
import { effectOf } from '../graph/labels';
import type { Column, Edge, Fact } from '../graph/lineageGraph';
import { ShieldIcon } from '../shell/icons';
import { Moment, Name } from '../shell/Name';
import { go } from '../state/view';
import { State } from '../table/cells';

function OneFact({ fact }: { fact: Fact }) {
  const { job } = fact;
  return (
    <dl className="fact">
      {fact.description && (
        <>
          <dt className="unseen">expression</dt>
          <dd className="expression mono">{fact.description}</dd>
        </>
      )}
      <dt>effect</dt>
      <dd>
        {effectOf(fact.subtype)} <span className="muted code">{fact.subtype ?? fact.type}</span>
        {fact.masking && <ShieldIcon />}
      </dd>
      {job !== null && (
        <>
          <dt>job</dt>
          <dd>
            <button
              type="button"
              className="link"
              onClick={() => go({ mode: 'runs', job: JSON.stringify([job.namespace, job.name]), sort: null })}
            >
              <Name text={job.name} limit={36} />
            </button>
          </dd>
        </>
      )}
      <dt>first seen</dt>
      <dd>
        <Moment at={fact.firstSeen} />
      </dd>
      <dt>last seen</dt>
      <dd>
        <Moment at={fact.lastSeen} />
      </dd>
      {fact.lastRun !== null && (
        <>
          <dt>last run</dt>
          <dd>
            <Name className="mono" text={fact.lastRun} limit={20} />
            {fact.lastState !== null && <State name={fact.lastState} />}
          </dd>
        </>
      )}
      {fact.runs !== null && (
        <>
          <dt>runs</dt>
          <dd>{count(fact.runs)}</dd>
        </>
      )}
    </dl>
  );
}

/** All facts of a line; with `other`, headed by the column at its far end. */
export function Facts({ edge, other }: { edge: Edge; other: Column | null }) {
  return (
    <div className={edge.direct ? 'facts' : 'facts dotted'}>
      {other !== null && (
        <button type="button" className="link mono" onClick={() => go({ pick: other.key })}>
          <Name text={`${other.table}.${other.field}`} limit={38} />
        </button>
      )}
      {edge.facts.map((fact) => (
        <OneFact key={JSON.stringify([fact.subtype, fact.description, fact.job, fact.masking])} fact={fact} />
      ))}
    </div>
  );
}
