/** The keys, in a dialog. */
import { useEffect, useRef } from 'react';
import { useStore } from '../state/store';
import { helpOpen, KEYS } from './shortcuts';

export function Help() {
  const open = useStore(helpOpen, (value) => value);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open) dialog.current?.showModal();
  }, [open]);
  return (
    <dialog ref={dialog} aria-labelledby="keys-title" onClose={() => helpOpen.set(false)}>
      <h2 id="keys-title">Keys</h2>
      <dl className="keys">
        {KEYS.map(([keys, meaning]) => (
          <div key={keys}>
            <dt>{keys}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <button type="button" className="primary" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
