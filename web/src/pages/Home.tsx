/** The home page: search with examples, layers, recent changes and ingest status. */
import type { ColumnJson, Overview, RecentChange } from '../api/answers';
import { fetchDatasets, fetchOverview } from '../api/queries';
import { useQuery } from '../api/useQuery';
import { countOf } from '../format/text';
import { MARK_LABELS } from '../graph/labels';
import { Search } from '../search/Search';
import { Name } from '../shell/Name';
import { EmptyState, QueryResult } from '../shell/QueryState';
import { Timestamp } from '../shell/Timestamp';
import { columnKey, shortName } from '../state/names';
import { navigate, openColumn } from '../state/view';
import { IngestHealth } from './IngestHealth';
import { Layers } from './Layers';
import { changesOfKnownEdges, isNewLake } from './recentChanges';
import { type ServerStatus, useServerStatus } from './useServerStatus';

const MAX_EXAMPLES = 3;
const MAX_CHANGES = 8;

const columnLabel = (column: ColumnJson) => column.label ?? `${shortName(column.name)}.${column.field}`;

function Examples({ columns }: { columns: readonly ColumnJson[] }) {
  if (columns.length === 0) return null;
  return (
    <p className="examples">
      <span className="muted">Examples: </span>
      {columns.slice(0, MAX_EXAMPLES).map((column) => (
        <button
          key={columnKey(column)}
          type="button"
          className="example mono"
          onClick={() => openColumn(columnKey(column))}
        >
          <Name text={columnLabel(column)} limit={40} />
        </button>
      ))}
    </p>
  );
}

function Change({ change }: { change: RecentChange }) {
  const { symbol, label } = MARK_LABELS[change.change] ?? MARK_LABELS.changed;
  return (
    <li>
      <span className={`verdict mark-${change.change}`} title={label}>
        {symbol}
        <span className="visually-hidden">{label}</span>
      </span>
      <button type="button" className="link mono" onClick={() => openColumn(columnKey(change.target))}>
        <Name text={columnLabel(change.target)} limit={38} />
      </button>
      <span className="muted">
        from <Name className="mono" text={columnLabel(change.source)} limit={38} />
      </span>
      <Timestamp at={change.when} />
    </li>
  );
}

/** What the first ingest brought: everything in a new lake is an addition, which is not listed one by one. */
function FirstIngest({ overview }: { overview: Overview }) {
  const { edges, jobs } = overview.health;
  const tables = overview.layers.reduce((sum, layer) => sum + layer.datasets, 0);
  return (
    <p className="first-ingest">
      First ingest: {countOf(Number(edges ?? 0), 'edge')} in {countOf(tables, 'table')}, from{' '}
      {countOf(Number(jobs ?? 0), 'job')}.
    </p>
  );
}

function RecentChanges({ overview }: { overview: Overview }) {
  const isNew = isNewLake(overview);
  const changes = isNew ? changesOfKnownEdges(overview.recent) : overview.recent;
  return (
    <section className="box" aria-labelledby="recent-title">
      <h2 id="recent-title">Recent changes</h2>
      {isNew && <FirstIngest overview={overview} />}
      {changes.length === 0 && isNew ? null : changes.length === 0 ? (
        <p className="muted">No recent changes.</p>
      ) : (
        <ul className="recent">
          {changes.slice(0, MAX_CHANGES).map((change) => (
            <Change
              key={JSON.stringify([change.when, change.change, change.source, change.target])}
              change={change}
            />
          ))}
        </ul>
      )}
      <p>
        <button type="button" className="link" onClick={() => navigate({ mode: 'changes' })}>
          Compare two dates
        </button>
      </p>
    </section>
  );
}

const isEmpty = (overview: Overview) => overview.layers.every((layer) => layer.datasets === 0);

function EmptyLake({ server }: { server: ServerStatus }) {
  const received = server.status?.receiver.accepted;
  return (
    <EmptyState title="No lineage yet">
      {typeof received === 'number' && received > 0 && (
        <p>
          <strong>{countOf(received, 'event')} received.</strong> They appear here after the next ingest.
        </p>
      )}
      <p>Send events, then run ingest:</p>
      <ol>
        <li>
          In a Spark session, call <code>colline.attach(spark, transport=…)</code>, or configure any
          OpenLineage producer with the URL <code>{location.origin}</code>.
        </li>
        <li>
          Run <code>colline ingest</code>, or start the server with <code>colline serve --ingest</code>.
        </li>
      </ol>
    </EmptyState>
  );
}

export function Home() {
  const overview = useQuery('overview', fetchOverview);
  const datasets = useQuery('datasets', () => fetchDatasets().catch(() => null));
  const server = useServerStatus();
  return (
    <div className="home">
      <div className="hero">
        <h1>Where does a column come from, and where does it go?</h1>
        <Search large />
        {overview.value !== null && <Examples columns={overview.value.examples} />}
      </div>
      {overview.error?.code === 'no_lineage' ? (
        <EmptyLake server={server} />
      ) : (
        <QueryResult query={overview}>
          {(value) =>
            isEmpty(value) ? (
              <EmptyLake server={server} />
            ) : (
              <div className="boxes">
                <Layers overview={value} tables={datasets.value?.rows ?? []} />
                <RecentChanges overview={value} />
                <IngestHealth overview={value} server={server} />
              </div>
            )
          }
        </QueryResult>
      )}
    </div>
  );
}
