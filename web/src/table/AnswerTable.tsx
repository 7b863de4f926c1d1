/** A whole answer in words: its verdict, what can be saved of it, its rows. */
import type { ReactNode } from 'react';
import type { Unknown } from '../api/answers';
import { Export } from '../shell/ExportButtons';
import { VerdictLine } from '../shell/VerdictLine';
import { Table, type TableProps } from './Table';

/** What an answer says beside its rows. */
export interface Said {
  readonly verdict: string | readonly string[];
  readonly as_of: string | null;
  readonly left_out?: number;
  readonly unknown?: readonly Unknown[];
}

interface ListedProps<Row> extends TableProps<Row> {
  readonly said: Said;
  /** What a saved file is called. */
  readonly subject: string;
  readonly onMore?: (() => void) | null;
  /** Stands between the verdict and the rows. */
  readonly children?: ReactNode;
}

export function Listed<Row>({ said, subject, onMore = null, children, ...table }: ListedProps<Row>) {
  return (
    <>
      <VerdictLine
        verdicts={[said.verdict].flat()}
        asOf={said.as_of}
        leftOut={said.left_out ?? 0}
        unknown={said.unknown ?? []}
        onMore={onMore}
      >
        <Export subject={subject} heads={table.heads} rows={table.rows} />
      </VerdictLine>
      {children}
      <div className="list">
        <Table {...table} />
      </div>
    </>
  );
}
