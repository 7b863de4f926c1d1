/** One run: state, times, error, and the tables it read and wrote. */
import type { ReactNode } from 'react';
import type { DatasetIdentity, Run, WrittenDataset } from '../api/answers';
import { byteSize, countOf, visibleCode } from '../format/text';
import { duration, utcTime } from '../format/time';
import { CopyButton } from '../shell/CopyButton';
import { TableLink } from '../shell/Links';
import { Name } from '../shell/Name';
import { Timestamp } from '../shell/Timestamp';
import { tableKey } from '../state/names';
import { Layer, State } from '../table/cells';

const MAX_TABLES = 50;

function Fact({ title, children }: { title: string; children: ReactNode }) {
  return (
    <>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Tables({ title, tables }: { title: string; tables: readonly DatasetIdentity[] }) {
  return (
    <section>
      <h3>{title}</h3>
      {tables.length === 0 && <p className="muted">None known.</p>}
      <ul className="run-tables">
        {tables.slice(0, MAX_TABLES).map((table) => (
          <li key={tableKey(table)}>
            <TableLink table={table} label={table.label} limit={36} /> <Layer name={table.layer} />
          </li>
        ))}
        {tables.length > MAX_TABLES && (
          <li className="muted">{countOf(tables.length - MAX_TABLES, 'more table')}</li>
        )}
      </ul>
    </section>
  );
}

/** `60 rows, 4.5 kB in 1 file`. */
function writtenText({ rows, bytes, files }: WrittenDataset): string {
  const size = bytes === null ? null : byteSize(bytes);
  const inFiles = files === null ? '' : ` in ${countOf(files, 'file')}`;
  return [rows === null ? null : countOf(rows, 'row'), size === null ? null : `${size}${inFiles}`]
    .filter(Boolean)
    .join(', ');
}

function Written({ tables }: { tables: readonly WrittenDataset[] }) {
  if (tables.length === 0) return null;
  return (
    <section>
      <h3>Written</h3>
      <ul className="run-tables">
        {tables.slice(0, MAX_TABLES).map((table) => (
          <li key={tableKey(table)}>
            {writtenText(table)} <span className="muted">to</span>{' '}
            <TableLink table={table} label={table.label} limit={36} />
          </li>
        ))}
      </ul>
    </section>
  );
}

export function RunDetails({ run }: { run: Run }) {
  const ended = run.started && run.ended ? Date.parse(run.ended) - Date.parse(run.started) : null;
  return (
    <>
      <header>
        <h2>
          Run <State name={run.state} />
        </h2>
        <p className="mono">
          <Name text={run.run_id} limit={40} />
        </p>
      </header>
      <div className="panel-actions">
        <CopyButton text={run.run_id} label="Id" />
        <CopyButton text={() => location.href} label="Link" />
      </div>
      <section>
        <dl className="fact">
          {run.started && <Fact title="started">{utcTime(run.started)}</Fact>}
          {run.ended && <Fact title="ended">{utcTime(run.ended)}</Fact>}
          {ended !== null && <Fact title="duration">{duration(ended)}</Fact>}
          {run.last_event && (
            <Fact title="last event">
              <Timestamp at={run.last_event} />
            </Fact>
          )}
          {run.owner && (
            <Fact title="owner">
              <Name text={run.owner} limit={32} />
            </Fact>
          )}
          {run.parent_run && (
            <Fact title="parent run">
              <Name className="mono" text={run.parent_run} limit={24} />
            </Fact>
          )}
          {run.streaming && <Fact title="stream">yes</Fact>}
        </dl>
      </section>
      {run.error && (
        <section>
          <h3>Error</h3>
          <pre className="expression mono run-error">
            <bdi>{visibleCode(run.error)}</bdi>
          </pre>
        </section>
      )}
      <Written tables={run.written ?? []} />
      <Tables title="Inputs" tables={run.inputs ?? []} />
      <Tables title="Outputs" tables={run.outputs ?? []} />
    </>
  );
}
