/** Search field: lists matching columns; Enter opens the first or the highlighted one. */
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import type { ColumnJson } from '../api/answers';
import type { ApiError } from '../api/client';
import { findColumns } from '../api/queries';
import { useQuery } from '../api/useQuery';
import { count } from '../format/text';
import { Icon } from '../shell/icons';
import { Name } from '../shell/Name';
import { columnKey, shortName } from '../state/names';
import { openColumn, useView } from '../state/view';
import { Layer } from '../table/cells';

const DEBOUNCE_MS = 90;
/** A click on an option blurs the field before it is handled. */
const CLOSE_DELAY_MS = 150;

function useDebounced(text: string): string {
  const [debounced, setDebounced] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(text), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return debounced;
}

interface OptionProps {
  readonly id: string;
  readonly row: ColumnJson;
  readonly active: boolean;
  readonly onOpen: () => void;
}

function Option({ id, row, active, onOpen }: OptionProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles keys for its options
    // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus, as a combobox does
    <div role="option" id={id} aria-selected={active} className="option" onClick={onOpen}>
      <Name className="mono field" text={row.field} limit={44} />
      <Name className="table-name" text={shortName(row.name)} limit={44} />
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

function NoMatches({ text, error }: { text: string; error: ApiError | null }) {
  return (
    <p className="message" role="status">
      {error === null ? `No columns match “${text.slice(0, 60)}”. ` : `${error.message.replace(/\.$/, '')}. `}
      <span className="muted">{error?.hint ?? 'Try part of the name, or table.column.'}</span>
    </p>
  );
}

export function Search({ large = false }: { large?: boolean }) {
  const [text, setText] = useState('');
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const enterPressed = useRef(false);
  const id = useId();
  const asOf = useView((view) => view.asOf);
  const searchText = useDebounced(text.trim());
  const query = useQuery(searchText === '' ? null : `${searchText}\n${asOf}`, () =>
    findColumns(searchText, asOf),
  );
  const isCurrent = searchText === text.trim() && (query.state === 'done' || query.state === 'failed');
  const rows = searchText === '' ? [] : (query.value?.rows ?? []);
  const leftOut = query.value?.left_out ?? 0;
  const isOpen = open && text.trim() !== '';

  const openRow = (row: ColumnJson) => {
    setOpen(false);
    setText('');
    (document.activeElement as HTMLElement | null)?.blur();
    openColumn(columnKey(row));
  };
  // If Enter was pressed before the answer arrived, open the first match now.
  useEffect(() => {
    const first = rows[0];
    if (enterPressed.current && isCurrent) {
      enterPressed.current = false;
      if (first !== undefined) openRow(first);
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
      if (isCurrent && row !== undefined) openRow(row);
      else enterPressed.current = text.trim() !== '';
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
        placeholder={large ? 'Search columns: email, orders.total, …' : 'Search columns'}
        aria-label="Search columns"
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={isOpen && rows[active] ? `${id}-${active}` : undefined}
        autoComplete="off"
        spellCheck={false}
        maxLength={2000}
        data-search={large ? 'large' : 'header'}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setActive(0);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setTimeout(() => setOpen(false), CLOSE_DELAY_MS)}
        onKeyDown={onKeyDown}
      />
      <span className="kbd" aria-hidden="true">
        /
      </span>
      <div className={isOpen ? 'options' : 'options closed'}>
        <div role="listbox" id={`${id}-list`} aria-label="Matching columns" aria-busy={!isCurrent}>
          {isOpen &&
            rows.map((row, index) => (
              <Option
                key={columnKey(row)}
                id={`${id}-${index}`}
                row={row}
                active={index === active}
                onOpen={() => openRow(row)}
              />
            ))}
        </div>
        {isOpen && isCurrent && rows.length === 0 && <NoMatches text={text} error={query.error} />}
        {isOpen && leftOut > 0 && rows.length > 0 && (
          <p className="message muted">{count(leftOut)} more matches; refine your search</p>
        )}
      </div>
    </search>
  );
}
