/** Changes: what was added, removed or changed between two dates. */
import { type FormEvent, useMemo } from 'react';
import type { Diff } from '../api/answers';
import { fetchDiff } from '../api/queries';
import { usePagedQuery } from '../api/usePagedQuery';
import { fromInputValue, toInputValue } from '../format/time';
import { GraphPane } from '../graph/GraphPane';
import { Legend } from '../graph/Legend';
import { EMPTY_GRAPH } from '../graph/lineageGraph';
import { graphFromDiff } from '../graph/toGraph';
import { DetailPanel } from '../panel/DetailPanel';
import { GraphScreen } from '../shell/GraphScreen';
import { QueryResult } from '../shell/QueryState';
import { navigate, openColumn, useView } from '../state/view';
import { AnswerTable } from '../table/AnswerTable';
import { type ChangeRow, changeRows } from '../table/changeRows';
import { CHANGE_COLUMNS } from '../table/verdictColumns';

const WEEK_MS = 7 * 86_400_000;
const HOUR_MS = 3_600_000;

/** One week ago, rounded down to the hour, so that the answer can be cached. */
function oneWeekAgo(): string {
  return new Date(Math.floor((Date.now() - WEEK_MS) / HOUR_MS) * HOUR_MS).toISOString();
}

const COMPARISON_DEFAULTS = { pick: null, hide: [], to: null };

function DateRangeForm({ from, to }: { from: string | null; to: string | null }) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const read = (name: string) => fromInputValue(String(data.get(name) ?? ''));
    navigate({ from: read('from'), to: read('to'), pick: null, hide: [] });
  };
  return (
    <form className="date-range" onSubmit={submit} key={`${from} ${to}`}>
      <label>
        From <input type="datetime-local" name="from" defaultValue={toInputValue(from)} required />
      </label>
      <label>
        To <input type="datetime-local" name="to" defaultValue={toInputValue(to)} />
      </label>
      {to === null && <span className="muted">now</span>}
      <button type="submit" className="primary">
        Compare
      </button>
      <button type="button" onClick={() => navigate({ ...COMPARISON_DEFAULTS, from: null })}>
        Last change
      </button>
      <button type="button" onClick={() => navigate({ ...COMPARISON_DEFAULTS, from: oneWeekAgo() })}>
        Last 7 days
      </button>
    </form>
  );
}

const appendChanges = (loaded: Diff, page: Diff): Diff => ({
  ...loaded,
  added: [...loaded.added, ...page.added],
  removed: [...loaded.removed, ...page.removed],
  changed: [...loaded.changed, ...page.changed],
});

const countChanges = (rows: readonly ChangeRow[], change: ChangeRow['change']) =>
  rows.filter((row) => row.change === change).length;

export default function Changes() {
  const { from, to, hide, pick } = useView((view) => view);
  const key = JSON.stringify([from, to]);
  const { query, onLoadMore } = usePagedQuery(key, (cursor) => fetchDiff(from, to, cursor), appendChanges);
  const answer = query.value;
  const allRows = useMemo(() => (answer === null ? [] : changeRows(answer)), [answer]);
  const rows = useMemo(() => allRows.filter((row) => !hide.includes(row.change)), [allRows, hide]);
  const graph = useMemo(() => (answer === null ? EMPTY_GRAPH : graphFromDiff(answer)), [answer]);
  const counts = (['added', 'removed', 'changed'] as const).map(
    (change) => [change, countChanges(allRows, change)] as const,
  );
  return (
    <GraphScreen
      state={query.state}
      toolbar={<DateRangeForm from={from ?? answer?.from ?? null} to={to} />}
      graph={
        <QueryResult query={query}>
          {() =>
            graph.edges.size === 0 ? (
              <p className="empty">No edges were added, removed or changed in this period.</p>
            ) : (
              <GraphPane
                graph={graph}
                subject={key}
                focusColumn={null}
                kind="changes"
                canExpand={false}
                legend={<Legend counts={counts} />}
              />
            )
          }
        </QueryResult>
      }
      answer={
        answer !== null && (
          <AnswerTable
            summary={{ ...answer, as_of: to }}
            exportName="changes"
            onLoadMore={onLoadMore}
            label="changes in this period"
            columns={CHANGE_COLUMNS}
            rows={rows}
            rowKey={(row) => row.key}
            selected={pick}
            rowClass={(row) => `change-${row.change}`}
            onSelect={(row) => navigate({ pick: row.column === pick ? null : row.column })}
            onOpen={(row) => row.column !== null && openColumn(row.column)}
            emptyText="No changes in this period."
          />
        )
      }
      panel={<DetailPanel graph={graph} defaultColumn={null} />}
    />
  );
}
