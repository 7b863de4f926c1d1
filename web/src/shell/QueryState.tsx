/** Shows the result of a query, or that it is loading, has failed or is empty. */
import type { ReactNode } from 'react';
import type { ApiError } from '../api/client';
import { findColumns } from '../api/queries';
import type { QueryState } from '../api/useQuery';
import { refresh } from '../state/freshness';
import { columnKey } from '../state/names';
import { openColumn, viewStore } from '../state/view';
import { Name } from './Name';
import { TokenForm } from './TokenForm';

/** Opens the first column that matches `name`; does nothing without a match. */
async function openCandidate(name: string): Promise<void> {
  const { rows } = await findColumns(name, viewStore.get().asOf, 1);
  const [first] = rows;
  if (first !== undefined) openColumn(columnKey(first));
}

function Candidates({ error }: { error: ApiError }) {
  if (error.candidates.length === 0) return null;
  return (
    <ul className="candidates">
      {error.candidates.slice(0, 10).map((name) => (
        <li key={name}>
          <button type="button" className="link mono" onClick={() => void openCandidate(name)}>
            <Name text={name} limit={72} />
          </button>
        </li>
      ))}
    </ul>
  );
}

const TITLES: Readonly<Record<string, string>> = {
  no_token: 'This server requires a token',
  wrong_scope: 'This server requires a token',
  no_lineage: 'No lineage yet',
  not_found: 'Not found',
};

export function ErrorMessage({ error }: { error: ApiError }) {
  const needsToken = error.code === 'no_token' || error.code === 'wrong_scope';
  return (
    <div className="state-box" role="alert">
      <h2>{TITLES[error.code] ?? 'Request failed'}</h2>
      <p>
        <Name text={error.message} limit={300} />
      </p>
      {error.hint !== null && <p className="muted">{error.hint}</p>}
      <Candidates error={error} />
      {needsToken ? (
        <TokenForm />
      ) : (
        <button type="button" className="primary" onClick={refresh}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Loading() {
  return (
    <div className="state-box" role="status">
      <span className="spinner" aria-hidden="true" /> Loading…
    </div>
  );
}

export function EmptyState({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="state-box">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

interface QueryResultProps<T> {
  readonly query: QueryState<T>;
  readonly children: (value: T) => ReactNode;
}

/** Renders the value of a query. While a new value is loading, the previous one is dimmed. */
export function QueryResult<T>({ query, children }: QueryResultProps<T>) {
  if (query.error !== null) return <ErrorMessage error={query.error} />;
  if (query.value === null) return query.state === 'slow' ? <Loading /> : null;
  const isBusy = query.state !== 'done';
  return (
    <div className={query.state === 'slow' ? 'query-result slow' : 'query-result'} aria-busy={isBusy}>
      {children(query.value)}
    </div>
  );
}
