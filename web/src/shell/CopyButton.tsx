/** A button that copies, and says so. */
import { useState } from 'react';
import { Icon } from './icons';

export function Copy({ text, label }: { text: string | (() => string); label: string }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return (
    <button type="button" onClick={() => void copy()} aria-label={`copy ${label}`}>
      <Icon name={done ? 'check' : 'copy'} /> {done ? 'copied' : label}
    </button>
  );
}
