/** Quarantine: events that were set aside, with the reason, so that nothing is lost in silence. */
import { useState } from 'react';
import type { Quarantined } from '../api/answers';
import { quarantine } from '../api/queries';
import { joinRows, usePages } from '../api/usePagedQuery';
import { visible } from '../format/text';
import { Copy } from '../shell/CopyButton';
import { Icon } from '../shell/icons';
import { Await } from '../shell/QueryState';
import { Listed } from '../table/AnswerTable';
import { QUARANTINED } from '../table/serviceColumns';

const LONG = 20_000;
const keyOf = (row: Quarantined) => JSON.stringify([row.file, row.position, row.quarantined_at, row.reason]);

function OneEvent({ row, onClose }: { row: Quarantined; onClose: () => void }) {
  const line = visible(row.line ?? '');
  return (
    <aside className="panel" aria-label="event that was set aside">
      <button type="button" className="close" aria-label="close details" onClick={onClose}>
        <Icon name="close" />
      </button>
      <header>
        <h2>{row.reason}</h2>
        <p className="mono small">{row.detail}</p>
        <p className="muted small">
          {row.file} {row.position != null && `· position ${row.position}`}
        </p>
      </header>
      <div className="panel-actions">
        <Copy text={row.line ?? ''} label="line" />
      </div>
      <pre className="expression mono">{line.length > LONG ? `${line.slice(0, LONG)}… (cut)` : line}</pre>
    </aside>
  );
}

export default function Quarantine() {
  const { waiting, onMore } = usePages('quarantine', quarantine, joinRows);
  const [picked, setPicked] = useState<Quarantined | null>(null);
  return (
    <Await waiting={waiting}>
      {(answer) => (
        <div className="with-panel">
          <div className="page-of-rows">
            <Listed
              said={answer}
              subject="quarantine"
              onMore={onMore}
              label="events that were set aside"
              heads={QUARANTINED}
              rows={answer.rows}
              keyOf={keyOf}
              picked={picked === null ? null : keyOf(picked)}
              onPick={setPicked}
              empty="Nothing was set aside: every event that came could be read."
            />
          </div>
          {picked !== null && <OneEvent row={picked} onClose={() => setPicked(null)} />}
        </div>
      )}
    </Await>
  );
}
