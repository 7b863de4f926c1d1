/** A button that copies text to the clipboard. */
import { useState } from 'react';
import { copyText } from './clipboard';
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
  const [result, setResult] = useState<'Copied' | 'Not copied' | null>(null);
  const copy = async () => {
    const copied = await copyText(typeof text === 'string' ? text : text());
    setResult(copied ? 'Copied' : 'Not copied');
    setTimeout(() => setResult(null), CONFIRMATION_MS);
  };
  return (
    <>
      <button type="button" onClick={() => void copy()} aria-label={name ?? `Copy ${label.toLowerCase()}`}>
        <Icon name={result === 'Copied' ? 'check' : 'copy'} /> {result ?? label}
      </button>
      <span role="status" className="visually-hidden">
        {result}
      </span>
    </>
  );
}
