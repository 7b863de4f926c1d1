/** An answer as text: the verdict line with export buttons, and the table of its rows. */
import type { ReactNode } from 'react';
import type { Unknown } from '../api/answers';
import { utcTime } from '../format/time';
import { ExportButtons } from '../shell/ExportButtons';
import { type Scope, VerdictLine } from '../shell/VerdictLine';
import { Table, type TableProps } from './Table';

/** The parts of an answer that the verdict line shows. */
export interface AnswerSummary {
  readonly verdict: string | readonly string[];
  readonly as_of: string | null;
  readonly left_out?: number;
  readonly unknown?: readonly Unknown[];
  readonly scope?: Scope;
}

interface AnswerTableProps<Row> extends TableProps<Row> {
  readonly summary: AnswerSummary;
  /** File name of an export, without extension. */
  readonly exportName: string;
  readonly onLoadMore?: (() => void) | null;
  /** Shown between the verdict line and the table. */
  readonly children?: ReactNode;
}

function verdictText({ verdict, as_of: asOf }: AnswerSummary): string {
  const texts = [verdict].flat().join(' · ');
  return asOf === null ? texts : `${texts}; as of ${utcTime(asOf)}`;
}

export function AnswerTable<Row>(props: AnswerTableProps<Row>) {
  const { summary, exportName, onLoadMore = null, children, ...table } = props;
  return (
    <>
      <VerdictLine
        verdicts={[summary.verdict].flat()}
        asOf={summary.as_of}
        leftOut={summary.left_out ?? 0}
        unknown={summary.unknown ?? []}
        scope={summary.scope ?? 'everything'}
        onLoadMore={onLoadMore}
      >
        <ExportButtons
          name={exportName}
          columns={table.columns}
          rows={table.rows}
          verdict={verdictText(summary)}
        />
      </VerdictLine>
      {children}
      <div className="table-area">
        <Table {...table} />
      </div>
    </>
  );
}
