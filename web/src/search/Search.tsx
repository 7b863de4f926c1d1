/** Search: type a column, see where it lives, Enter lands on its graph. */
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import type { ColumnJson } from '../api/answers';
import type { Failure } from '../api/client';
import { findColumns } from '../api/queries';
import { useAnswer } from '../api/useQuery';
import { count } from '../format/text';
import { Icon } from '../shell/icons';
import { Name } from '../shell/Name';
import { columnKey, shortName } from '../state/names';
import { focus, useView } from '../state/view';
import { Layer } from '../table/cells';

const PAUSE = 90;

function useDelayed(text: string): string {
  const [late, setLate] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setLate(text), PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  return late;
}

interface OptionProps {
  readonly id: string;
  readonly row: ColumnJson;
  readonly active: boolean;
  readonly onTake: () => void;
}

function Option({ id, row, active, onTake }: OptionProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles keys for its options
    // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus, as a combobox does
    <div role="option" id={id} aria-selected={active} className="option" onClick={onTake}>
      <Name className="mono field" text={row.field} limit={44} />
      <Name className="in" text={shortName(row.name)} limit={44} />
      <span className="tags">
        {(row.tags ?? []).slice(0, 3).map((tag) => (
          <span key={tag} className="tag">
            <Name text={tag} limit={16} />
          </span>
        ))}
      </span>
      <Layer name={row.layer} />
    </div>
  );
}

function Nothing({ text, failure }: { text: string; failure: Failure | null }) {
  return (
    <p className="none" role="status">
      {failure === null ? `No column is called like “${text.slice(0, 60)}”. ` : `${failure.message}. `}
      <span className="muted">{failure?.hint ?? 'Try a part of the name, or table.column.'}</span>
    </p>
  );
}

export function Search({ large = false }: { large?: boolean }) {
  const [text, setText] = useState('');
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const enter = useRef(false);
  const id = useId();
  const asOf = useView((view) => view.asOf);
  const q = useDelayed(text.trim());
  const found = useAnswer(q === '' ? null : `${q}\n${asOf}`, () => findColumns(q, asOf));
  const current = q === text.trim() && (found.state === 'done' || found.state === 'failed');
  const rows = q === '' ? [] : (found.value?.rows ?? []);
  const shown = open && text.trim() !== '';

  const take = (row: ColumnJson) => {
    setOpen(false);
    setText('');
    (document.activeElement as HTMLElement | null)?.blur();
    focus(columnKey(row));
  };
  // Enter before the answer is there counts when it arrives.
  useEffect(() => {
    const first = rows[0];
    if (enter.current && current) {
      enter.current = false;
      if (first !== undefined) take(first);
    }
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setActive(Math.min(active + 1, rows.length - 1));
    else if (event.key === 'ArrowUp') setActive(Math.max(active - 1, 0));
    else if (event.key === 'Escape') {
      setOpen(false);
      (event.target as HTMLElement).blur();
    } else if (event.key === 'Enter') {
      const row = rows[active];
      if (current && row !== undefined) take(row);
      else enter.current = text.trim() !== '';
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <search className={large ? 'search large' : 'search'}>
      <Icon name="search" />
      <input
        type="text"
        role="combobox"
        placeholder={large ? 'Search a column: email, orders.total, …' : 'Search a column'}
        aria-label="search a column"
        aria-expanded={shown}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={shown && rows[active] ? `${id}-${active}` : undefined}
        autoComplete="off"
        spellCheck={false}
        maxLength={2000}
        data-search={large ? 'large' : 'top'}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setActive(0);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setTimeout(() => setOpen(false), 150)}
        onKeyDown={onKeyDown}
      />
      <span className="kbd" aria-hidden="true">
        /
      </span>
      <div className={shown ? 'options' : 'options shut'}>
        <div role="listbox" id={`${id}-list`} aria-label="matching columns" aria-busy={!current}>
          {shown &&
            rows.map((row, index) => (
              <Option
                key={columnKey(row)}
                id={`${id}-${index}`}
                row={row}
                active={index === active}
                onTake={() => take(row)}
              />
            ))}
        </div>
        {shown && current && rows.length === 0 && <Nothing text={text} failure={found.failure} />}
        {shown && (found.value?.left_out ?? 0) > 0 && rows.length > 0 && (
          <p className="none muted">{count(found.value?.left_out ?? 0)} more; type more of the name</p>
        )}
      </div>
    </search>
  );
}
