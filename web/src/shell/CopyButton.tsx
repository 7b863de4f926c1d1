/** A button that copies text to the clipboard. */
import { useState } from 'react';
import { Icon } from './icons';

const CONFIRMATION_MS = 1500;

/** `label` names what is copied. */
export function CopyButton({ text, label }: { text: string | (() => string); label: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
    setCopied(true);
    setTimeout(() => setCopied(false), CONFIRMATION_MS);
  };
  return (
    <button type="button" onClick={() => void copy()} aria-label={`Copy ${label.toLowerCase()}`}>
      <Icon name={copied ? 'check' : 'copy'} /> {copied ? 'Copied' : label}
    </button>
  );
}
