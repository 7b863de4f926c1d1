/** Dialog with the keyboard shortcuts. */
import { useEffect, useRef } from 'react';
import { useStore } from '../state/store';
import { helpOpen, SHORTCUTS } from './shortcuts';

export function HelpDialog() {
  const open = useStore(helpOpen, (value) => value);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open) dialog.current?.showModal();
  }, [open]);
  return (
    <dialog ref={dialog} aria-labelledby="shortcuts-title" onClose={() => helpOpen.set(false)}>
      <h2 id="shortcuts-title">Keyboard shortcuts</h2>
      <dl className="shortcuts">
        {SHORTCUTS.map(([keys, description]) => (
          <div key={keys}>
            <dt>{keys}</dt>
            <dd>{description}</dd>
          </div>
        ))}
      </dl>
      <button type="button" className="primary" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
