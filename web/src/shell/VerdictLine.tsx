/** The answer in one line, with the text of the command line, its as-of time and its gaps. */
import type { ReactNode } from 'react';
import type { Unknown } from '../api/answers';
import { count, countOf, truncateWords } from '../format/text';
import { Name } from './Name';
import { Timestamp } from './Timestamp';

const MAX_GAPS = 50;
/** A longer word is a name, which is truncated so that the rest of the verdict can be read. */
const MAX_WORD_LENGTH = 60;
const MAX_VERDICT_LENGTH = 600;

/** What an answer covers. Without conditions, it follows only values; with a depth, only some hops. */
export type Scope = 'everything' | 'values' | 'some hops';

interface VerdictLineProps {
  readonly verdicts: readonly string[];
  readonly asOf: string | null;
  readonly leftOut: number;
  readonly unknown: readonly Unknown[];
  readonly scope: Scope;
  /** Loads the next page; null when all pages are loaded. */
  readonly onLoadMore: (() => void) | null;
  readonly children?: ReactNode;
}

/** A verdict names options of the command line; the page has them as controls. */
const pageWords = (verdict: string) => verdict.replaceAll('`--indirect`', '“Indirect”');

function completeness(leftOut: number, unknown: readonly Unknown[], scope: Scope): string {
  if (leftOut > 0) return `; ${count(leftOut)} not loaded yet`;
  if (unknown.length > 0 || scope === 'some hops') return '';
  return scope === 'values' ? '; complete, by value only' : '; complete';
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

export function VerdictLine({
  verdicts,
  asOf,
  leftOut,
  unknown,
  scope,
  onLoadMore,
  children,
}: VerdictLineProps) {
  return (
    <div className="verdict-line">
      <p role="status">
        {verdicts.map((verdict, index) => (
          <span key={verdict} className="verdict-text">
            {index > 0 && ' · '}
            <Name
              text={truncateWords(pageWords(verdict), MAX_WORD_LENGTH)}
              tooltip={verdict}
              limit={MAX_VERDICT_LENGTH}
            />
          </span>
        ))}
        <span className="muted">
          {asOf !== null && (
            <>
              ; as of <Timestamp at={asOf} exact />
            </>
          )}
          {completeness(leftOut, unknown, scope)}
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
