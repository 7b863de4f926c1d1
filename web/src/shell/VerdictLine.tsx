/** The answer in one line, with the text of the command line, its as-of time and its gaps. */
import type { ReactNode } from 'react';
import type { Unknown } from '../api/answers';
import { count, countOf } from '../format/text';
import { Name } from './Name';
import { Timestamp } from './Timestamp';

const MAX_GAPS = 50;

interface VerdictLineProps {
  readonly verdicts: readonly string[];
  readonly asOf: string | null;
  readonly leftOut: number;
  readonly unknown: readonly Unknown[];
  /** Loads the next page; null when all pages are loaded. */
  readonly onLoadMore: (() => void) | null;
  readonly children?: ReactNode;
}

function completeness(leftOut: number, unknown: readonly Unknown[]): string {
  if (leftOut > 0) return `; ${count(leftOut)} not loaded yet`;
  return unknown.length === 0 ? '; complete' : '';
}

function Gaps({ unknown }: { unknown: readonly Unknown[] }) {
  if (unknown.length === 0) return null;
  return (
    <details className="gaps">
      <summary>? {countOf(unknown.length, 'gap')}</summary>
      <ul>
        {unknown.slice(0, MAX_GAPS).map(({ what, why }) => (
          <li key={`${what} ${why}`}>
            <Name text={what} limit={80} />: {why}
          </li>
        ))}
      </ul>
    </details>
  );
}

export function VerdictLine({ verdicts, asOf, leftOut, unknown, onLoadMore, children }: VerdictLineProps) {
  return (
    <div className="verdict-line">
      <p role="status">
        {verdicts.map((verdict, index) => (
          <span key={verdict} className="verdict-text">
            {index > 0 && ' · '}
            <Name text={verdict} limit={240} />
          </span>
        ))}
        <span className="muted">
          {asOf !== null && (
            <>
              ; as of <Timestamp at={asOf} exact />
            </>
          )}
          {completeness(leftOut, unknown)}
        </span>
      </p>
      <Gaps unknown={unknown} />
      <div className="actions">
        {leftOut > 0 && onLoadMore !== null && (
          <button type="button" onClick={onLoadMore}>
            Load more
          </button>
        )}
        {children}
      </div>
    </div>
  );
}
