/** What is shown while an answer is on its way, when it failed, and when there is nothing. */
import { type FormEvent, type ReactNode, useState } from 'react';
import { type Failure, keepToken } from '../api/client';
import { findColumns } from '../api/queries';
import type { Waiting } from '../api/useQuery';
import { refresh } from '../state/freshness';
import { columnKey } from '../state/names';
import { focus, viewStore } from '../state/view';
import { Name } from './Name';

function TokenForm() {
  const [token, setToken] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    keepToken(token.trim());
    refresh();
  };
  return (
    <form className="token" onSubmit={submit}>
      <label>
        Token with the scope “read”
        <input
          type="password"
          autoComplete="off"
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
      </label>
      <button type="submit" className="primary">
        Use it
      </button>
      <p className="muted">It stays in this tab. An administrator makes one with `colline token create`.</p>
    </form>
  );
}

/** The column that a candidate's name leads to; a name that leads nowhere leaves the message as it is. */
async function openCandidate(name: string): Promise<void> {
  const { rows } = await findColumns(name, viewStore.get().asOf, 1);
  const [first] = rows;
  if (first !== undefined) focus(columnKey(first));
}

function Candidates({ failure }: { failure: Failure }) {
  if (failure.candidates.length === 0) return null;
  return (
    <ul className="candidates">
      {failure.candidates.slice(0, 10).map((name) => (
        <li key={name}>
          <button type="button" className="link mono" onClick={() => void openCandidate(name)}>
            <Name text={name} limit={72} />
          </button>
        </li>
      ))}
    </ul>
  );
}

export function Failed({ failure }: { failure: Failure }) {
  const needsToken = failure.code === 'no_token' || failure.code === 'wrong_scope';
  return (
    <div className="state-box" role="alert">
      <h2>{needsToken ? 'This server asks for a token' : 'No answer'}</h2>
      <p>
        <Name text={failure.message} limit={300} />
      </p>
      {failure.hint !== null && <p className="muted">{failure.hint}</p>}
      <Candidates failure={failure} />
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
      <span className="spinner" aria-hidden="true" /> Asking the lake…
    </div>
  );
}

export function Empty({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="state-box">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** The value when it is there; else the state it is in. An old value under way to a new one is dimmed. */
export function Await<T>({ waiting, children }: { waiting: Waiting<T>; children: (value: T) => ReactNode }) {
  if (waiting.failure !== null) return <Failed failure={waiting.failure} />;
  if (waiting.value === null) return waiting.state === 'slow' ? <Loading /> : null;
  const busy = waiting.state !== 'done';
  return (
    <div className={waiting.state === 'slow' ? 'await slow' : 'await'} aria-busy={busy}>
      {children(waiting.value)}
    </div>
  );
}
