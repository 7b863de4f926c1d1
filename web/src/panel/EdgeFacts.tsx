/** How one column is derived from another: expression, effect, job, times and runs. */
import { count, visibleCode } from '../format/text';
import { subtypeLabel } from '../graph/labels';
import type { Column, Edge, Fact } from '../graph/lineageGraph';
import { ShieldIcon } from '../shell/icons';
import { JobLink } from '../shell/Links';
import { Name } from '../shell/Name';
import { Timestamp } from '../shell/Timestamp';
import { navigate } from '../state/view';
import { State } from '../table/cells';

function FactDetails({ fact }: { fact: Fact }) {
  const { job } = fact;
  return (
    <dl className="fact">
      {fact.description && (
        <>
          <dt className="visually-hidden">expression</dt>
          <dd className="expression mono">{visibleCode(fact.description)}</dd>
        </>
      )}
      <dt>effect</dt>
      <dd>
        {subtypeLabel(fact.subtype)}{' '}
        {subtypeLabel(fact.subtype) !== fact.subtype && (
          <span className="muted code">{fact.subtype ?? fact.type}</span>
        )}
        {fact.masking && <ShieldIcon />}
      </dd>
      {job !== null && (
        <>
          <dt>job</dt>
          <dd>
            <JobLink job={job} />
          </dd>
        </>
      )}
      {fact.firstSeen !== null && (
        <>
          <dt>first seen</dt>
          <dd>
            <Timestamp at={fact.firstSeen} />
          </dd>
        </>
      )}
      {fact.lastSeen !== null && (
        <>
          <dt>last seen</dt>
          <dd>
            <Timestamp at={fact.lastSeen} />
          </dd>
        </>
      )}
      {fact.lastRun !== null && (
        <>
          <dt>last run</dt>
          <dd className="last-run">
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

/** All facts of an edge. `otherColumn` is shown above them as a link. */
export function EdgeFacts({ edge, otherColumn }: { edge: Edge; otherColumn: Column | null }) {
  return (
    <div className={edge.direct ? 'facts' : 'facts indirect'}>
      {otherColumn !== null && (
        <button type="button" className="link mono" onClick={() => navigate({ pick: otherColumn.key })}>
          <Name text={`${otherColumn.table}.${otherColumn.field}`} limit={38} />
        </button>
      )}
      {edge.facts.map((fact) => (
        <FactDetails
          key={JSON.stringify([fact.subtype, fact.description, fact.job, fact.masking])}
          fact={fact}
        />
      ))}
    </div>
  );
}
