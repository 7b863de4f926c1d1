/** Coverage: where lineage is missing, so that unknown is never taken for none. */
import { useMemo } from 'react';
import type { Coverage as Answer } from '../api/answers';
import { coverage } from '../api/queries';
import { joinRows, usePages } from '../api/usePagedQuery';
import { count } from '../format/text';
import { Await } from '../shell/QueryState';
import { go, useView } from '../state/view';
import { Listed } from '../table/AnswerTable';
import { GAP_WORDS, GAPS } from '../table/serviceColumns';

function Kinds({ answer }: { answer: Answer }) {
  const hide = useView((view) => view.hide);
  const kinds = Object.entries(answer.by?.kind ?? {});
  const toggle = (kind: string) =>
    go({ hide: hide.includes(kind) ? hide.filter((each) => each !== kind) : [...hide, kind] });
  return (
    <div className="kinds">
      {kinds.map(([kind, number]) => (
        <button
          key={kind}
          type="button"
          className="legend-mark mark-unknown"
          aria-pressed={!hide.includes(kind)}
          onClick={() => toggle(kind)}
        >
          ? {GAP_WORDS[kind] ?? kind} <span className="figure">{count(number)}</span>
        </button>
      ))}
    </div>
  );
}

/** How much of the lake has lineage, as a bar and in words. */
function Share({ totals }: { totals: Answer['totals'] }) {
  const { columns, with_lineage: known } = totals;
  if (!columns || known === undefined) return null;
  const percent = Math.floor((known / columns) * 100);
  return (
    <div className="share">
      <meter min={0} max={columns} value={known} aria-label="columns with lineage">
        {percent} %
      </meter>
      <span>
        <strong className="figure">{percent} %</strong> of {count(columns)} columns have lineage
      </span>
    </div>
  );
}

function Gaps({ answer, onMore }: { answer: Answer; onMore: (() => void) | null }) {
  const hide = useView((view) => view.hide);
  const rows = useMemo(() => answer.rows.filter((row) => !hide.includes(row.kind)), [answer, hide]);
  return (
    <div className="page-of-rows">
      <Share totals={answer.totals} />
      <Kinds answer={answer} />
      <Listed
        said={answer}
        subject="coverage"
        onMore={onMore}
        label="gaps in lineage"
        heads={GAPS}
        rows={rows}
        keyOf={(row) =>
          JSON.stringify([row.kind, row.job, row.dataset, row.detail, row.first_seen, row.run_id])
        }
        empty="No gap is known: every run that was seen told its lineage."
      />
    </div>
  );
}

export default function Coverage() {
  const asOf = useView((view) => view.asOf);
  const { waiting, onMore } = usePages(`coverage ${asOf}`, (cursor) => coverage(asOf, cursor), joinRows);
  return <Await waiting={waiting}>{(answer) => <Gaps answer={answer} onMore={onMore} />}</Await>;
}
