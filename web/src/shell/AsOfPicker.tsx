/** As of when: now, or a moment in the past. */
import { useId, useState } from 'react';
import { fromField, local, toField, utc } from '../format/time';
import { go, useView } from '../state/view';
import { Icon } from './icons';

export function AsOf() {
  const asOf = useView((view) => view.asOf);
  const [open, setOpen] = useState(false);
  const id = useId();
  const set = (value: string | null) => {
    setOpen(false);
    go({ asOf: value });
  };
  return (
    <div className="as-of">
      <button
        type="button"
        aria-expanded={open}
        aria-controls={id}
        className={asOf === null ? '' : 'past'}
        title={asOf === null ? 'the newest lineage' : utc(asOf)}
        onClick={() => setOpen(!open)}
      >
        <span className="muted">as of</span> {asOf === null ? 'now' : local(asOf)} <Icon name="down" />
      </button>
      <div id={id} className="popover" hidden={!open}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const value = new FormData(event.currentTarget).get('moment');
            set(typeof value === 'string' ? fromField(value) : null);
          }}
        >
          <label>
            Lineage as it was at
            <input key={asOf} type="datetime-local" name="moment" defaultValue={toField(asOf)} required />
          </label>
          <p className="muted small">In your local time.</p>
          <div className="row-of-buttons">
            <button type="submit" className="primary">
              Show
            </button>
            <button type="button" onClick={() => set(null)}>
              Now
            </button>
          </div>
        </form>
      </div>
    </div>
  );
}
