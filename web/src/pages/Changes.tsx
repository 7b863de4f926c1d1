/** Changes: what came and what went between two moments. */
import { type FormEvent, useMemo } from 'react';
import type { Diff } from '../api/answers';
import { diff } from '../api/queries';
import { usePages } from '../api/usePagedQuery';
import { fromField, toField } from '../format/time';
import { GraphPane } from '../graph/GraphPane';
import { Legend } from '../graph/Legend';
import { EMPTY } from '../graph/lineageGraph';
import { fromDiff } from '../graph/toGraph';
import { Panel } from '../panel/DetailPanel';
import { Screen } from '../shell/GraphScreen';
import { Await } from '../shell/QueryState';
import { focus, go, useView } from '../state/view';
import { Listed } from '../table/AnswerTable';
import { type ChangeRow, changeRows } from '../table/changeRows';
import { CHANGES } from '../table/verdictColumns';

const WEEK = 7 * 86_400_000;

/** A week before now, cut to the hour, so that the same question is asked once. */
function weekAgo(): string {
  const hour = 3_600_000;
  return new Date(Math.floor((Date.now() - WEEK) / hour) * hour).toISOString();
}

function Moments({ from, to }: { from: string; to: string | null }) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const read = (name: string) => fromField(String(data.get(name) ?? ''));
    go({ from: read('from'), to: read('to'), pick: null, hide: [] });
  };
  return (
    <form className="moments" onSubmit={submit} key={`${from} ${to}`}>
      <label>
        from <input type="datetime-local" name="from" defaultValue={toField(from)} required />
      </label>
      <label>
        to <input type="datetime-local" name="to" defaultValue={toField(to)} />
      </label>
      {to === null && <span className="muted">now</span>}
      <button type="submit" className="primary">
        Compare
      </button>
    </form>
  );
}

/** Two pages of changes. */
const joinChanges = (first: Diff, second: Diff): Diff => ({
  ...first,
  added: [...first.added, ...second.added],
  removed: [...first.removed, ...second.removed],
  changed: [...first.changed, ...second.changed],
});

const count = (rows: readonly ChangeRow[], change: ChangeRow['change']) =>
  rows.filter((row) => row.change === change).length;

export default function Changes() {
  const { from: asked, to, hide, pick } = useView((view) => view);
  const from = useMemo(() => asked ?? weekAgo(), [asked]);
  const key = JSON.stringify([from, to]);
  const { waiting, onMore } = usePages(key, (cursor) => diff(from, to, cursor), joinChanges);
  const all = useMemo(() => (waiting.value === null ? [] : changeRows(waiting.value)), [waiting.value]);
  const rows = useMemo(() => all.filter((row) => !hide.includes(row.change)), [all, hide]);
  const picture = useMemo(() => (waiting.value === null ? EMPTY : fromDiff(waiting.value)), [waiting.value]);
  const legend = (['added', 'removed', 'changed'] as const).map(
    (change) => [change, count(all, change)] as const,
  );
  return (
    <Screen
      tools={<Moments from={from} to={to} />}
      graph={
        <Await waiting={waiting}>
          {() =>
            picture.edges.size === 0 ? (
              <p className="empty">No edge came, went or changed between these moments.</p>
            ) : (
              <GraphPane
                picture={picture}
                subject={key}
                focusColumn={null}
                kind="changes"
                canExpand={false}
                legend={<Legend counts={legend} />}
              />
            )
          }
        </Await>
      }
      below={
        waiting.value !== null && (
          <Listed
            said={{ ...waiting.value, as_of: to }}
            subject="changes"
            onMore={onMore}
            label="changes between the two moments"
            heads={CHANGES}
            rows={rows}
            keyOf={(row) => row.key}
            picked={pick}
            classOf={(row) => `change-${row.change}`}
            onPick={(row) => go({ pick: row.column === pick ? null : row.column })}
            onOpen={(row) => row.column !== null && focus(row.column)}
            empty="Nothing changed between these moments."
          />
        )
      }
      panel={<Panel picture={picture} fallback={null} />}
    />
  );
}
