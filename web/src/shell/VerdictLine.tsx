/** The answer in one line, in the words of the command line, with as of when and how complete. */
import type { ReactNode } from 'react';
import type { Unknown } from '../api/answers';
import { count, countOf } from '../format/text';
import { Moment, Name } from './Name';

interface VerdictProps {
  readonly verdicts: readonly string[];
  readonly asOf: string | null;
  readonly leftOut?: number;
  readonly unknown?: readonly Unknown[];
  /** Brings the next page of a cut answer. */
  readonly onMore?: (() => void) | null;
  readonly children?: ReactNode;
}

export function VerdictLine({
  verdicts,
  asOf,
  leftOut = 0,
  unknown = [],
  onMore = null,
  children,
}: VerdictProps) {
  return (
    <div className="verdict-line">
      <p role="status">
        {verdicts.map((verdict, index) => (
          <span key={verdict} className="said">
            {index > 0 && ' · '}
            <Name text={verdict} limit={240} />
          </span>
        ))}
        <span className="muted">
          {asOf !== null && (
            <>
              ; as of <Moment at={asOf} exact />
            </>
          )}
          {leftOut > 0 ? `; ${count(leftOut)} not loaded yet` : unknown.length === 0 ? '; complete' : ''}
        </span>
      </p>
      {unknown.length > 0 && (
        <details className="unknowns">
          <summary>? {countOf(unknown.length, 'thing')} unknown</summary>
          <ul>
            {unknown.slice(0, 50).map(({ what, why }) => (
              <li key={`${what} ${why}`}>
                <Name text={what} limit={80} />: {why}
              </li>
            ))}
          </ul>
        </details>
      )}
      <div className="actions">
        {leftOut > 0 && onMore !== null && (
          <button type="button" onClick={onMore}>
            Load more
          </button>
        )}
        {children}
      </div>
    </div>
  );
}
