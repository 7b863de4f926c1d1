/** The first thing seen: search, examples from the lake, layers and flow, what changed, the state of ingest. */
import type { ColumnJson, Overview, RecentChange } from '../api/answers';
import { datasets, overview } from '../api/queries';
import { useAnswer } from '../api/useQuery';
import { SIGNS } from '../graph/labels';
import { Search } from '../search/Search';
import { Moment, Name } from '../shell/Name';
import { Await, Empty } from '../shell/QueryState';
import { columnKey, shortName } from '../state/names';
import { focus, go, useView } from '../state/view';
import { Health } from './IngestHealth';
import { Layers } from './Layers';
import { useService } from './useServerStatus';

const labelOf = (column: ColumnJson) => column.label ?? `${shortName(column.name)}.${column.field}`;

function Examples({ columns }: { columns: readonly ColumnJson[] }) {
  if (columns.length === 0) return null;
  return (
    <p className="examples">
      <span className="muted">for example </span>
      {columns.slice(0, 3).map((column) => (
        <button
          key={columnKey(column)}
          type="button"
          className="example mono"
          onClick={() => focus(columnKey(column))}
        >
          <Name text={labelOf(column)} limit={40} />
        </button>
      ))}
    </p>
  );
}

function Change({ change }: { change: RecentChange }) {
  const sign = SIGNS[change.change] ?? SIGNS.changed;
  return (
    <li>
      <span className={`verdict mark-${change.change}`} title={sign.word}>
        {sign.sign}
        <span className="unseen">{sign.word}</span>
      </span>
      <button type="button" className="link mono" onClick={() => focus(columnKey(change.target))}>
        <Name text={labelOf(change.target)} limit={38} />
      </button>
      <span className="muted">
        {change.change === 'added' ? 'now from' : 'no more from'}{' '}
        <Name className="mono" text={labelOf(change.source)} limit={38} />
      </span>
      <Moment at={change.when} />
    </li>
  );
}

function Recent({ changes }: { changes: readonly RecentChange[] }) {
  return (
    <section className="box" aria-labelledby="recent-title">
      <h2 id="recent-title">Changed lately</h2>
      {changes.length === 0 ? (
        <p className="muted">Nothing changed lately.</p>
      ) : (
        <ul className="recent">
          {changes.slice(0, 8).map((change) => (
            <Change
              key={JSON.stringify([change.when, change.change, change.source, change.target])}
              change={change}
            />
          ))}
        </ul>
      )}
      <p>
        <button type="button" className="link" onClick={() => go({ mode: 'changes' })}>
          Compare two moments
        </button>
      </p>
    </section>
  );
}

const isEmpty = (lake: Overview) => lake.layers.every((layer) => layer.datasets === 0);

function EmptyLake() {
  return (
    <Empty title="This lake has no lineage yet">
      <p>Send it some, then bring it in:</p>
      <ol>
        <li>
          in a session: <code>colline.attach(spark, transport=…)</code>, or point any OpenLineage producer at{' '}
          <code>{location.origin}</code>
        </li>
        <li>
          then <code>colline ingest</code>
        </li>
      </ol>
    </Empty>
  );
}

export function Home() {
  const asOf = useView((view) => view.asOf);
  const lake = useAnswer(`overview ${asOf}`, () => overview(asOf));
  const tables = useAnswer(`datasets ${asOf}`, () => datasets(asOf).catch(() => null));
  const service = useService();
  return (
    <div className="home">
      <div className="hero">
        <h1>Which column, and where does it come from?</h1>
        <Search large />
        {lake.value !== null && <Examples columns={lake.value.examples} />}
      </div>
      <Await waiting={lake}>
        {(value) =>
          isEmpty(value) ? (
            <EmptyLake />
          ) : (
            <div className="boxes">
              <Layers overview={value} tables={tables.value?.rows ?? []} />
              <Recent changes={value.recent} />
              <Health overview={value} service={service} />
            </div>
          )
        }
      </Await>
    </div>
  );
}
