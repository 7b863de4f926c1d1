/**
 * An answer as a table: sorted by any head, drawn only where it is in sight, walked by arrow keys.
 * Rows are placed by transform, which a <table> cannot do, so the roles are written out.
 */
import { type KeyboardEvent, type ReactNode, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { go, useView } from '../state/view';
import { arrange, type Head, nextSort, readSort, roomFor, windowOf } from './tableModel';

export const ROW = 30;

export interface TableProps<Row> {
  readonly label: string;
  readonly heads: readonly Head<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly picked?: string | null;
  readonly classOf?: (row: Row) => string;
  readonly onPick?: (row: Row) => void;
  readonly onOpen?: (row: Row) => void;
  /** Called when the last rows come into sight and there are more on the server. */
  readonly onEnd?: (() => void) | null;
  readonly empty: ReactNode;
}

function useWindow(count: number) {
  const frame = useRef<HTMLDivElement>(null);
  const [scroll, setScroll] = useState({ top: 0, height: 0, width: 0 });
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const look = () =>
      setScroll({ top: element.scrollTop, height: element.clientHeight, width: element.clientWidth });
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, []);
  return { frame, width: scroll.width, ...windowOf(count, scroll.top, scroll.height, ROW) };
}

const gridOf = (heads: readonly { readonly width: string }[]) => heads.map((head) => head.width).join(' ');

export function Table<Row>(props: TableProps<Row>) {
  const { keyOf, onEnd } = props;
  const sorted = useView((view) => view.sort);
  const sort = useMemo(() => readSort(sorted), [sorted]);
  const rows = useMemo(() => arrange(props.rows, props.heads, sort), [props.rows, props.heads, sort]);
  const { frame, width, first, last } = useWindow(rows.length);
  const heads = useMemo(() => roomFor(props.heads, width), [props.heads, width]);
  const [active, setActive] = useState(0);
  const wanted = useRef<number | null>(null);
  // The row to focus may be drawn only after the list has scrolled: each render looks again.
  useLayoutEffect(() => {
    if (wanted.current === null) return;
    const row = frame.current?.querySelector<HTMLElement>(`[data-index="${wanted.current}"]`);
    if (!row) return;
    wanted.current = null;
    row.focus({ preventScroll: true });
  });
  const style = { gridTemplateColumns: gridOf(heads) };
  useLayoutEffect(() => {
    if (onEnd && last >= rows.length && rows.length > 0) onEnd();
  }, [onEnd, last, rows.length]);

  const move = (to: number) => {
    const index = Math.max(0, Math.min(rows.length - 1, to));
    setActive(index);
    const element = frame.current;
    if (element === null) return;
    if (index * ROW < element.scrollTop) element.scrollTop = index * ROW;
    const bottom = (index + 2) * ROW - element.clientHeight; // the head takes one row's height
    if (bottom > element.scrollTop) element.scrollTop = bottom;
    wanted.current = index;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[active];
    const page = Math.floor((frame.current?.clientHeight ?? 0) / ROW) - 1;
    const moves: Record<string, number> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      Home: 0,
      End: rows.length - 1,
      PageDown: active + page,
      PageUp: active - page,
    };
    const to = moves[event.key];
    if (to !== undefined) move(to);
    else if (event.key === 'Enter' && row !== undefined) (props.onOpen ?? props.onPick)?.(row);
    else if (event.key === ' ' && row !== undefined) props.onPick?.(row);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const renderRow = (row: Row, index: number) => {
    const key = keyOf(row);
    const classes = ['tr', props.picked === key && 'picked', props.classOf?.(row)].filter(Boolean).join(' ');
    return (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles keys for all its rows
      <div
        key={key}
        role="row"
        className={classes}
        data-index={index}
        aria-rowindex={index + 2}
        aria-selected={props.picked === key}
        tabIndex={index === Math.min(active, rows.length - 1) ? 0 : -1}
        style={{ ...style, transform: `translateY(${index * ROW}px)` }}
        onClick={() => {
          setActive(index);
          props.onPick?.(row);
        }}
        onDoubleClick={() => props.onOpen?.(row)}
      >
        {heads.map((head) => (
          // biome-ignore lint/a11y/useFocusableInteractive: rows take the focus, cells do not
          <div key={head.id} role="gridcell" className={head.number ? 'td number' : 'td'}>
            {head.cell(row)}
          </div>
        ))}
      </div>
    );
  };

  if (props.rows.length === 0) return <div className="empty">{props.empty}</div>;
  return (
    <div
      className="table"
      ref={frame}
      role="grid"
      aria-label={props.label}
      aria-rowcount={rows.length + 1}
      aria-colcount={heads.length}
      onKeyDown={onKeyDown}
    >
      <div role="rowgroup" className="thead">
        {/* biome-ignore lint/a11y/useFocusableInteractive: the buttons inside take the focus */}
        <div role="row" className="tr" style={style} aria-rowindex={1}>
          {heads.map((head) => (
            // biome-ignore lint/a11y/useFocusableInteractive: the button inside takes the focus
            <div
              key={head.id}
              role="columnheader"
              className={head.number ? 'td number' : 'td'}
              aria-sort={sort.id !== head.id ? 'none' : sort.down ? 'descending' : 'ascending'}
            >
              <button type="button" onClick={() => go({ sort: nextSort(sort, head.id) }, 'replace')}>
                {head.title}
                <span aria-hidden="true">{sort.id !== head.id ? '' : sort.down ? ' ↓' : ' ↑'}</span>
              </button>
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup" className="tbody" style={{ height: rows.length * ROW }}>
        {rows.slice(first, last).map((row, offset) => renderRow(row, first + offset))}
      </div>
    </div>
  );
}
