/** A button that copies text to the clipboard. */
import { useState } from 'react';
import { Icon } from './icons';

const CONFIRMATION_MS = 1500;

interface CopyButtonProps {
  readonly text: string | (() => string);
  /** Names what is copied. */
  readonly label: string;
  /** Name of the button for a screen reader. */
  readonly name?: string;
}

export function CopyButton({ text, label, name }: CopyButtonProps) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
    setCopied(true);
    setTimeout(() => setCopied(false), CONFIRMATION_MS);
  };
  return (
    <button type="button" onClick={() => void copy()} aria-label={name ?? `Copy ${label.toLowerCase()}`}>
      <Icon name={copied ? 'check' : 'copy'} /> {copied ? 'Copied' : label}
    </button>
  );
}
