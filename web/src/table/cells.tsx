/** Small cells that tables and panels share. */
import type { Verdict } from '../api/answers';
import { SIGNS } from '../graph/labels';
import { ShieldIcon } from '../shell/icons';

export function Layer({ name }: { name: string | null | undefined }) {
  return (
    <span className="layer" data-layer={name ?? 'none'}>
      {name ?? 'no layer'}
    </span>
  );
}

export function State({ name }: { name: string | null | undefined }) {
  const word = (name ?? 'unknown').toLowerCase();
  return <span className={`state ${word}`}>{word}</span>;
}

export function VerdictMark({ verdict }: { verdict: Verdict }) {
  return (
    <span className={`verdict mark-${verdict}`}>
      {verdict === 'masked' ? <ShieldIcon /> : <span aria-hidden="true">{SIGNS[verdict].sign}</span>}{' '}
      {verdict}
    </span>
  );
}

const LAYERS = ['bronze', 'silver', 'gold', 'platinum'];

/** Layers sort in the order of the flow, not of the alphabet. */
export function layerOrder(layer: string | null | undefined): number {
  const index = LAYERS.indexOf(layer ?? '');
  return index < 0 ? LAYERS.length : index;
}
