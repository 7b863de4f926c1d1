/** The legend: each mark with its count; a click hides or shows it. */
import { count } from '../format/text';
import { ShieldIcon } from '../shell/icons';
import { go, useView } from '../state/view';
import type { Mark } from './highlight';
import { SIGNS } from './labels';

export function Legend({ counts }: { counts: readonly (readonly [Mark, number])[] }) {
  const hide = useView((view) => view.hide);
  const toggle = (mark: Mark) =>
    go({ hide: hide.includes(mark) ? hide.filter((each) => each !== mark) : [...hide, mark] });
  return (
    <fieldset className="legend-marks">
      <legend className="unseen">show</legend>
      {counts.map(([mark, number]) => (
        <button
          key={mark}
          type="button"
          className={`legend-mark mark-${mark}`}
          aria-pressed={!hide.includes(mark)}
          onClick={() => toggle(mark)}
        >
          <span className="sign" aria-hidden="true">
            {mark === 'masked' ? <ShieldIcon /> : SIGNS[mark].sign}
          </span>
          {SIGNS[mark].word} <span className="figure">{count(number)}</span>
        </button>
      ))}
    </fieldset>
  );
}
