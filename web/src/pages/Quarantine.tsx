/** Quarantine: events that could not be ingested, with the reason. */
import type { Quarantined } from '../api/answers';
import { fetchQuarantine } from '../api/queries';
import { appendRows, usePagedQuery } from '../api/usePagedQuery';
import { visible } from '../format/text';
import { CopyButton } from '../shell/CopyButton';
import { Icon } from '../shell/icons';
import { QueryResult } from '../shell/QueryState';
import { navigate, useView } from '../state/view';
import { AnswerTable } from '../table/AnswerTable';
import { QUARANTINE_COLUMNS } from '../table/serviceColumns';

const MAX_LINE_LENGTH = 20_000;
const rowKey = (row: Quarantined) => JSON.stringify([row.file, row.position, row.quarantined_at, row.reason]);

function EventPanel({ row, onClose }: { row: Quarantined; onClose: () => void }) {
  const line = visible(row.line ?? '');
  const shown = line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH)}… (truncated)` : line;
  return (
    <aside className="panel" aria-label="quarantined event">
      <button type="button" className="close" aria-label="Close details" onClick={onClose}>
        <Icon name="close" />
      </button>
      <header>
        <h2>{visible(row.reason ?? '')}</h2>
        <p className="mono small">{visible(row.detail ?? '')}</p>
        <p className="muted small">
          {row.file} {row.position != null && `· position ${row.position}`}
        </p>
      </header>
      <div className="panel-actions">
        <CopyButton text={row.line ?? ''} label="Line" />
      </div>
      <pre className="expression mono">{shown}</pre>
    </aside>
  );
}

export default function Quarantine() {
  const { query, onLoadMore } = usePagedQuery('quarantine', fetchQuarantine, appendRows);
  const pick = useView((view) => view.pick);
  return (
    <QueryResult query={query}>
      {(answer) => {
        const selected = answer.rows.find((row) => rowKey(row) === pick);
        return (
          <div className="with-panel">
            <div className="table-page">
              <AnswerTable
                summary={answer}
                exportName="quarantine"
                onLoadMore={onLoadMore}
                label="quarantined events"
                columns={QUARANTINE_COLUMNS}
                rows={answer.rows}
                rowKey={rowKey}
                selected={pick}
                onSelect={(row) => navigate({ pick: rowKey(row) === pick ? null : rowKey(row) })}
                emptyText="Quarantine is empty."
              />
            </div>
            {selected !== undefined && <EventPanel row={selected} onClose={() => navigate({ pick: null })} />}
          </div>
        );
      }}
    </QueryResult>
  );
}
