/** Asks for the access token of a server that requires one. */
import { type FormEvent, useState } from 'react';
import { storeToken } from '../api/client';
import { refresh } from '../state/freshness';

export function TokenForm() {
  const [token, setToken] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    storeToken(token.trim());
    refresh();
  };
  return (
    <form className="token" onSubmit={submit}>
      <label>
        Token with the “read” scope
        <input
          type="password"
          autoComplete="off"
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
      </label>
      <button type="submit" className="primary">
        Use token
      </button>
      <p className="muted">
        The token is kept for this browser tab only. An administrator can create one with{' '}
        <code>colline token create --scope read</code>.
      </p>
    </form>
  );
}
