/** Small cells that tables and panels share. */
import type { Verdict } from '../api/answers';
import { MARK_LABELS } from '../graph/labels';
import { ShieldIcon } from '../shell/icons';

export function Layer({ name }: { name: string | null | undefined }) {
  return (
    <span className="layer" data-layer={name ?? 'none'}>
      {name ?? 'no layer'}
    </span>
  );
}

export function State({ name }: { name: string | null | undefined }) {
  const state = (name ?? 'unknown').toLowerCase();
  return <span className={`state ${state}`}>{state}</span>;
}

export function VerdictMark({ verdict }: { verdict: Verdict }) {
  return (
    <span className={`verdict mark-${verdict}`}>
      {verdict === 'masked' ? <ShieldIcon /> : <span aria-hidden="true">{MARK_LABELS[verdict].symbol}</span>}{' '}
      {verdict}
    </span>
  );
}

const LAYERS = ['bronze', 'silver', 'gold', 'platinum'];

/** Sort order of a layer: from source to consumer, tables without a layer last. */
export function layerOrder(layer: string | null | undefined): number {
  const index = LAYERS.indexOf(layer ?? '');
  return index < 0 ? LAYERS.length : index;
}
