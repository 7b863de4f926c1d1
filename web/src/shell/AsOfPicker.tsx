/** Selects the time of the lineage on screen: now, or a time in the past. */
import { useId, useState } from 'react';
import { fromInputValue, localTime, toInputValue, utcTime } from '../format/time';
import { navigate, useView } from '../state/view';
import { Icon } from './icons';

export function AsOfPicker() {
  const asOf = useView((view) => view.asOf);
  const [open, setOpen] = useState(false);
  const id = useId();
  const apply = (value: string | null) => {
    setOpen(false);
    navigate({ asOf: value });
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the popover from each of its controls
    <div
      className="as-of"
      onKeyDown={(event) => open && event.key === 'Escape' && setOpen(false)}
      onBlur={({ currentTarget, relatedTarget }) =>
        relatedTarget !== null && !currentTarget.contains(relatedTarget) && setOpen(false)
      }
    >
      <button
        type="button"
        aria-expanded={open}
        aria-controls={id}
        className={asOf === null ? '' : 'past'}
        title={asOf === null ? 'Latest lineage' : utcTime(asOf)}
        onClick={() => setOpen(!open)}
      >
        <span className="muted">as of</span> {asOf === null ? 'now' : localTime(asOf)} <Icon name="down" />
      </button>
      <div id={id} className="popover" hidden={!open}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const value = new FormData(event.currentTarget).get('as-of');
            apply(typeof value === 'string' ? fromInputValue(value) : null);
          }}
        >
          <label>
            Show lineage as of
            <input key={asOf} type="datetime-local" name="as-of" defaultValue={toInputValue(asOf)} required />
          </label>
          <p className="muted small">In your local time zone.</p>
          <div className="button-row">
            <button type="submit" className="primary">
              Show
            </button>
            <button type="button" onClick={() => apply(null)}>
              Now
            </button>
          </div>
        </form>
      </div>
    </div>
  );
}
