/** Search field: lists matching columns, tables and jobs; Enter opens the first or the highlighted one. */
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react';
import type { ColumnJson, DatasetJson, Job } from '../api/answers';
import type { ApiError } from '../api/client';
import { findColumns } from '../api/queries';
import { useQuery } from '../api/useQuery';
import { countOf } from '../format/text';
import { Icon } from '../shell/icons';
import { Name } from '../shell/Name';
import { shortName } from '../state/names';
import { jobPage, navigate, openColumn, tablePage, useView } from '../state/view';
import { Layer, State } from '../table/cells';
import { type SearchResult, searchGroups } from './searchGroups';

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
  readonly result: SearchResult;
  readonly active: boolean;
  readonly onOpen: () => void;
}

function ColumnOption({ row }: { row: ColumnJson }) {
  return (
    <>
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
    </>
  );
}

function TableOption({ row }: { row: DatasetJson }) {
  return (
    <>
      <Name text={row.label ?? shortName(row.name)} tooltip={`${row.namespace} ${row.name}`} limit={44} />
      <span className="table-name">{countOf(row.columns ?? 0, 'column')}</span>
      <span className="tags">{row.owner && <Name className="muted" text={row.owner} limit={16} />}</span>
      <Layer name={row.layer} />
    </>
  );
}

function JobOption({ row }: { row: Job }) {
  return (
    <>
      <Name text={row.name} tooltip={`${row.namespace} ${row.name}`} limit={44} />
      <Name className="table-name" text={row.namespace} limit={44} />
      <span className="tags">{row.owner && <Name className="muted" text={row.owner} limit={16} />}</span>
      <State name={row.last_state} />
    </>
  );
}

function Option({ id, result, active, onOpen }: OptionProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles keys for its options
    // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus, as a combobox does
    <div role="option" id={id} aria-selected={active} className="option" onClick={onOpen}>
      {result.kind === 'column' && <ColumnOption row={result.row} />}
      {result.kind === 'table' && <TableOption row={result.row} />}
      {result.kind === 'job' && <JobOption row={result.row} />}
    </div>
  );
}

function openResult({ kind, key }: SearchResult): void {
  if (kind === 'column') openColumn(key);
  else navigate(kind === 'table' ? tablePage(key) : jobPage(key));
}

function NoMatches({ text, error }: { text: string; error: ApiError | null }) {
  return (
    <p className="message" role="status">
      {error === null ? `Nothing matches “${text.slice(0, 60)}”. ` : `${error.message.replace(/\.$/, '')}. `}
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
  const groups = useMemo(
    () => (searchText === '' || query.value === null ? [] : searchGroups(searchText, query.value)),
    [searchText, query.value],
  );
  const results = useMemo(() => groups.flatMap((group) => group.results), [groups]);
  const isOpen = open && text.trim() !== '';

  const activeId = isOpen && results[active] ? `${id}-${active}` : undefined;
  useEffect(() => {
    if (activeId !== undefined) document.getElementById(activeId)?.scrollIntoView({ block: 'nearest' });
  }, [activeId]);
  const openMatch = (result: SearchResult) => {
    setOpen(false);
    setText('');
    (document.activeElement as HTMLElement | null)?.blur();
    openResult(result);
  };
  // If Enter was pressed before the answer arrived, open the first match now.
  useEffect(() => {
    const first = results[0];
    if (enterPressed.current && isCurrent) {
      enterPressed.current = false;
      if (first !== undefined) openMatch(first);
    }
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setActive(Math.min(active + 1, results.length - 1));
    else if (event.key === 'ArrowUp') setActive(Math.max(active - 1, 0));
    else if (event.key === 'Escape') {
      setOpen(false);
      (event.target as HTMLElement).blur();
    } else if (event.key === 'Enter') {
      const result = results[active];
      if (isCurrent && result !== undefined) openMatch(result);
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
        placeholder={large ? 'Search columns, tables and jobs: email, orders.total, …' : 'Search'}
        aria-label="Search columns, tables and jobs"
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={activeId}
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
        <div role="listbox" id={`${id}-list`} aria-label="Matches" aria-busy={!isCurrent}>
          {isOpen &&
            groups.map((group) => (
              // biome-ignore lint/a11y/useSemanticElements: a listbox contains groups of options, not field sets
              <div key={group.title} role="group" aria-label={group.title}>
                <p className="group-title" aria-hidden="true">
                  {group.title}
                </p>
                {group.results.map((result) => {
                  const index = results.indexOf(result);
                  return (
                    <Option
                      key={result.key}
                      id={`${id}-${index}`}
                      result={result}
                      active={index === active}
                      onOpen={() => openMatch(result)}
                    />
                  );
                })}
                {group.leftOut > 0 && (
                  <p className="message muted">
                    {countOf(group.leftOut, 'more match', 'more matches')}; refine your search
                  </p>
                )}
              </div>
            ))}
        </div>
        {isOpen && isCurrent && results.length === 0 && <NoMatches text={text} error={query.error} />}
      </div>
    </search>
  );
}
