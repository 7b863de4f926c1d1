/** The legend: each mark with its count. A click hides or shows the mark. */
import { count } from '../format/text';
import { ShieldIcon } from '../shell/icons';
import { navigate, useView } from '../state/view';
import type { Mark } from './highlight';
import { MARK_LABELS } from './labels';

export function Legend({ counts }: { counts: readonly (readonly [Mark, number])[] }) {
  const hidden = useView((view) => view.hide);
  const toggle = (mark: Mark) =>
    navigate({ hide: hidden.includes(mark) ? hidden.filter((each) => each !== mark) : [...hidden, mark] });
  return (
    <fieldset className="legend-marks">
      <legend className="visually-hidden">Show</legend>
      {counts.map(([mark, number]) => (
        <button
          key={mark}
          type="button"
          className={`legend-mark mark-${mark}`}
          aria-pressed={!hidden.includes(mark)}
          onClick={() => toggle(mark)}
        >
          <span className="symbol" aria-hidden="true">
            {mark === 'masked' ? <ShieldIcon /> : MARK_LABELS[mark].symbol}
          </span>
          {MARK_LABELS[mark].label} <span className="figure">{count(number)}</span>
        </button>
      ))}
    </fieldset>
  );
}
