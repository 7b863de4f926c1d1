/**
 * A sortable table that renders only the rows on screen and is controlled by arrow keys.
 * Rows are positioned with CSS transforms, which <table> does not support, so ARIA roles are set explicitly.
 */
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { LinksTabbable } from '../shell/Links';
import { navigate, useView } from '../state/view';
import {
  columnsThatFit,
  columnsWithContent,
  fittingCharacters,
  nextSort,
  readSort,
  type Sort,
  sortRows,
  type TableColumn,
  visibleRows,
} from './tableModel';

export const ROW_HEIGHT_PX = 30;

export interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  readonly selected?: string | null;
  readonly rowClass?: (row: Row) => string;
  readonly onSelect?: (row: Row) => void;
  /** Called on double click and Enter. */
  readonly onOpen?: (row: Row) => void;
  readonly emptyText: ReactNode;
}

function useVisibleRows(rowCount: number) {
  const table = useRef<HTMLDivElement>(null);
  const [scroll, setScroll] = useState({ top: 0, height: 0, width: 0 });
  useLayoutEffect(() => {
    const element = table.current;
    if (element === null) return;
    const measure = () =>
      setScroll({ top: element.scrollTop, height: element.clientHeight, width: element.clientWidth });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, []);
  return { table, width: scroll.width, ...visibleRows(rowCount, scroll.top, scroll.height, ROW_HEIGHT_PX) };
}

/** Number of characters that fit into each column, by the width of its header. */
function useFittingCharacters(table: RefObject<HTMLElement | null>, template: string, width: number) {
  const [fitting, setFitting] = useState<readonly number[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the widths follow from the template and the table's width
  useLayoutEffect(() => {
    const headers = table.current?.querySelectorAll<HTMLElement>('[role="columnheader"]') ?? [];
    setFitting([...headers].map((header) => fittingCharacters(header.clientWidth)));
  }, [table, template, width]);
  return fitting;
}

const gridTemplate = (columns: readonly { readonly width: string }[]) =>
  columns.map((column) => column.width).join(' ');

/** Whether the element handles Enter and Space itself: a link in a row, or the button of a header. */
const isControl = (target: EventTarget) => (target as Element).closest('a, button') !== null;

interface HeaderCellProps {
  readonly column: { readonly id: string; readonly title: string; readonly isNumber?: boolean };
  readonly sort: Sort;
}

function HeaderCell({ column, sort }: HeaderCellProps) {
  const isSorted = sort.column === column.id;
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the button inside takes the focus
    <div
      role="columnheader"
      className={column.isNumber ? 'td number' : 'td'}
      aria-sort={!isSorted ? 'none' : sort.descending ? 'descending' : 'ascending'}
    >
      <button type="button" onClick={() => navigate({ sort: nextSort(sort, column.id) }, 'replace')}>
        {column.title}
        <span aria-hidden="true">{!isSorted ? '' : sort.descending ? ' ↓' : ' ↑'}</span>
      </button>
    </div>
  );
}

export function Table<Row>(props: TableProps<Row>) {
  const { rowKey } = props;
  const sortText = useView((view) => view.sort);
  const sort = useMemo(() => readSort(sortText), [sortText]);
  const rows = useMemo(() => sortRows(props.rows, props.columns, sort), [props.rows, props.columns, sort]);
  const { table, width, first, last } = useVisibleRows(rows.length);
  const columns = useMemo(
    () => columnsThatFit(columnsWithContent(props.columns, props.rows), width),
    [props.columns, props.rows, width],
  );
  const [active, setActive] = useState(0);
  const rowToFocus = useRef<number | null>(null);
  // The row may be rendered only after the table has scrolled, so this runs after each render.
  useLayoutEffect(() => {
    if (rowToFocus.current === null) return;
    const row = table.current?.querySelector<HTMLElement>(`[data-index="${rowToFocus.current}"]`);
    if (!row) return;
    rowToFocus.current = null;
    row.focus({ preventScroll: true });
  });
  const style = { gridTemplateColumns: gridTemplate(columns) };
  const fitting = useFittingCharacters(table, style.gridTemplateColumns, width);

  const moveTo = (target: number) => {
    const index = Math.max(0, Math.min(rows.length - 1, target));
    setActive(index);
    const element = table.current;
    if (element === null) return;
    if (index * ROW_HEIGHT_PX < element.scrollTop) element.scrollTop = index * ROW_HEIGHT_PX;
    const bottom = (index + 2) * ROW_HEIGHT_PX - element.clientHeight; // the header takes the height of one row
    if (bottom > element.scrollTop) element.scrollTop = bottom;
    rowToFocus.current = index;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[active];
    const pageRows = Math.floor((table.current?.clientHeight ?? 0) / ROW_HEIGHT_PX) - 1;
    const targets: Record<string, number> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      Home: 0,
      End: rows.length - 1,
      PageDown: active + pageRows,
      PageUp: active - pageRows,
    };
    const target = targets[event.key];
    if (target !== undefined) moveTo(target);
    else if (isControl(event.target)) return;
    else if (event.key === 'Enter' && row !== undefined) (props.onOpen ?? props.onSelect)?.(row);
    else if (event.key === ' ' && row !== undefined) props.onSelect?.(row);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const renderRow = (row: Row, index: number) => {
    const key = rowKey(row);
    const isSelected = props.selected === key;
    const isCurrent = index === Math.min(active, rows.length - 1);
    const classes = ['tr', isSelected && 'selected', props.rowClass?.(row)].filter(Boolean).join(' ');
    return (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles keys for all its rows
      <div
        key={key}
        role="row"
        className={classes}
        data-index={index}
        aria-rowindex={index + 2}
        aria-selected={isSelected}
        tabIndex={isCurrent ? 0 : -1}
        style={{ ...style, transform: `translateY(${index * ROW_HEIGHT_PX}px)` }}
        onClick={() => {
          setActive(index);
          props.onSelect?.(row);
        }}
        onDoubleClick={() => props.onOpen?.(row)}
      >
        <LinksTabbable value={isCurrent}>
          {columns.map((column, place) => (
            // biome-ignore lint/a11y/useFocusableInteractive: rows take the focus, cells do not
            <div key={column.id} role="gridcell" className={column.isNumber ? 'td number' : 'td'}>
              {column.cell(row, fitting[place] ?? fittingCharacters(undefined))}
            </div>
          ))}
        </LinksTabbable>
      </div>
    );
  };

  if (props.rows.length === 0) return <div className="empty">{props.emptyText}</div>;
  return (
    <div
      className="table"
      ref={table}
      role="grid"
      aria-label={props.label}
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length}
      onKeyDown={onKeyDown}
    >
      <div role="rowgroup" className="thead">
        {/* biome-ignore lint/a11y/useFocusableInteractive: the buttons inside take the focus */}
        <div role="row" className="tr" style={style} aria-rowindex={1}>
          {columns.map((column) => (
            <HeaderCell key={column.id} column={column} sort={sort} />
          ))}
        </div>
      </div>
      <div role="rowgroup" className="tbody" style={{ height: rows.length * ROW_HEIGHT_PX }}>
        {rows.slice(first, last).map((row, offset) => renderRow(row, first + offset))}
      </div>
    </div>
  );
}
