/** Coverage: where lineage is missing. Distinguishes unknown lineage from no lineage. */
import { useMemo } from 'react';
import type { Coverage as CoverageAnswer } from '../api/answers';
import { fetchCoverage } from '../api/queries';
import { appendRows, usePagedQuery } from '../api/usePagedQuery';
import { count } from '../format/text';
import { QueryResult } from '../shell/QueryState';
import { navigate, useView } from '../state/view';
import { AnswerTable } from '../table/AnswerTable';
import { GAP_COLUMNS, GAP_LABELS } from '../table/serviceColumns';

/** Buttons that hide or show one kind of gap. */
function GapKinds({ answer }: { answer: CoverageAnswer }) {
  const hidden = useView((view) => view.hide);
  const kinds = Object.entries(answer.by?.kind ?? {});
  const toggle = (kind: string) =>
    navigate({ hide: hidden.includes(kind) ? hidden.filter((each) => each !== kind) : [...hidden, kind] });
  return (
    <div className="gap-kinds">
      {kinds.map(([kind, number]) => (
        <button
          key={kind}
          type="button"
          className="legend-mark mark-unknown"
          aria-pressed={!hidden.includes(kind)}
          onClick={() => toggle(kind)}
        >
          ? {GAP_LABELS[kind] ?? kind} <span className="figure">{count(number)}</span>
        </button>
      ))}
    </div>
  );
}

/** The share of columns with lineage, as a bar and as text. */
function CoverageShare({ totals }: { totals: CoverageAnswer['totals'] }) {
  const { columns, with_lineage: withLineage } = totals;
  if (!columns || withLineage === undefined) return null;
  const percent = Math.floor((withLineage / columns) * 100);
  return (
    <div className="coverage-share">
      <meter min={0} max={columns} value={withLineage} aria-label="columns with lineage">
        {percent} %
      </meter>
      <span>
        <strong className="figure">{percent} %</strong> of {count(columns)} columns have lineage
      </span>
    </div>
  );
}

interface GapsProps {
  readonly answer: CoverageAnswer;
  readonly onLoadMore: (() => void) | null;
}

function Gaps({ answer, onLoadMore }: GapsProps) {
  const hidden = useView((view) => view.hide);
  const rows = useMemo(() => answer.rows.filter((row) => !hidden.includes(row.kind)), [answer, hidden]);
  return (
    <div className="table-page">
      <CoverageShare totals={answer.totals} />
      <GapKinds answer={answer} />
      <AnswerTable
        summary={answer}
        exportName="coverage"
        onLoadMore={onLoadMore}
        label="lineage gaps"
        columns={GAP_COLUMNS}
        rows={rows}
        rowKey={(row) =>
          JSON.stringify([row.kind, row.job, row.dataset, row.detail, row.first_seen, row.run_id])
        }
        emptyText={answer.rows.length > 0 ? 'All gaps are hidden.' : 'No gaps: every run has column lineage.'}
      />
    </div>
  );
}

export default function Coverage() {
  const asOf = useView((view) => view.asOf);
  const { query, onLoadMore } = usePagedQuery(
    `coverage ${asOf}`,
    (cursor) => fetchCoverage(asOf, cursor),
    appendRows,
  );
  return (
    <QueryResult query={query}>{(answer) => <Gaps answer={answer} onLoadMore={onLoadMore} />}</QueryResult>
  );
}
