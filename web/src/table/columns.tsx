/** Factories for table columns: names, texts, times, numbers, durations, states, tables and layers. */
import { count } from '../format/text';
import { duration } from '../format/time';
import { JobLink, TableLink } from '../shell/Links';
import { Name } from '../shell/Name';
import { Timestamp } from '../shell/Timestamp';
import { type JobRef, shortName, type TableRef } from '../state/names';
import { Layer, layerOrder, State } from './cells';
import type { TableColumn } from './tableModel';

type TextOf<Row> = (row: Row) => string | null | undefined;

interface NameOptions {
  readonly width?: string;
  /** Longer names are truncated in the middle. */
  readonly limit?: number;
  readonly className?: string;
  readonly minTableWidth?: number;
  readonly truncates?: 'middle' | 'end';
}

export function nameColumn<Row>(
  id: string,
  title: string,
  textOf: TextOf<Row>,
  options: NameOptions = {},
): TableColumn<Row> {
  const {
    width = 'minmax(100px, 1fr)',
    limit = 44,
    className,
    minTableWidth = 0,
    truncates = 'middle',
  } = options;
  return {
    id,
    title,
    width,
    minTableWidth,
    cell: (row, fitting) => {
      const text = textOf(row);
      const shown = Math.min(limit, fitting);
      return text ? (
        <Name text={text} limit={shown} truncates={truncates} {...(className && { className })} />
      ) : (
        ''
      );
    },
    text: (row) => textOf(row) ?? '',
  };
}

/** The owner of a table or job. */
export const ownerColumn = <Row,>(ownerOf: TextOf<Row>, width: string): TableColumn<Row> => ({
  ...nameColumn('owner', 'Owner', ownerOf, { width }),
  hidesWhenEmpty: true,
});

/** A job as a link to its page. */
export function jobColumn<Row>(
  jobOf: (row: Row) => JobRef | null | undefined,
  { title = 'Job', width = 'minmax(100px, 1fr)' } = {},
): TableColumn<Row> {
  return {
    id: 'job',
    title,
    width,
    cell: (row, fitting) => {
      const job = jobOf(row);
      return job ? <JobLink job={job} limit={fitting} /> : <span className="muted">unknown</span>;
    },
    text: (row) => jobOf(row)?.name ?? '',
  };
}

export function tagsColumn<Row>(tagsOf: (row: Row) => readonly string[] | undefined): TableColumn<Row> {
  return {
    id: 'tags',
    title: 'Tags',
    width: 'minmax(56px, 0.7fr)',
    minTableWidth: 480,
    cell: (row) => (
      <span className="cell-tags">
        {(tagsOf(row) ?? []).map((tag) => (
          <span key={tag} className="tag">
            <Name text={tag} limit={16} />
          </span>
        ))}
      </span>
    ),
    text: (row) => (tagsOf(row) ?? []).join(' '),
  };
}

export function textColumn<Row>(
  id: string,
  title: string,
  textOf: TextOf<Row>,
  width: string,
): TableColumn<Row> {
  return { id, title, width, cell: (row) => textOf(row) ?? '', text: (row) => textOf(row) ?? '' };
}

export function timeColumn<Row>(
  id: string,
  title: string,
  timeOf: TextOf<Row>,
  { exact = false } = {},
): TableColumn<Row> {
  return {
    id,
    title,
    width: exact ? '140px' : '84px',
    cell: (row) => <Timestamp at={timeOf(row)} exact={exact} />,
    text: (row) => timeOf(row) ?? '',
  };
}

export function numberColumn<Row>(
  id: string,
  title: string,
  numberOf: (row: Row) => number | null | undefined,
): TableColumn<Row> {
  return {
    id,
    title,
    width: '72px',
    isNumber: true,
    cell: (row) => {
      const value = numberOf(row);
      return value == null ? '' : count(value);
    },
    text: (row) => String(numberOf(row) ?? ''),
    sortValue: (row) => numberOf(row) ?? null,
  };
}

export function durationColumn<Row>(startOf: TextOf<Row>, endOf: TextOf<Row>): TableColumn<Row> {
  const durationOf = (row: Row) => {
    const [start, end] = [startOf(row), endOf(row)];
    return start && end ? Date.parse(end) - Date.parse(start) : null;
  };
  return {
    id: 'duration',
    title: 'Duration',
    width: '84px',
    isNumber: true,
    cell: (row) => {
      const milliseconds = durationOf(row);
      return milliseconds === null ? '–' : duration(milliseconds);
    },
    text: (row) => String(durationOf(row) ?? ''),
    sortValue: durationOf,
  };
}

export function stateColumn<Row>(stateOf: TextOf<Row>): TableColumn<Row> {
  return {
    id: 'state',
    title: 'State',
    width: '96px',
    cell: (row) => <State name={stateOf(row)} />,
    text: (row) => stateOf(row) ?? '',
  };
}

/** A table as a link to its page; nothing for a row without a table. */
export function tableColumn<Row>(
  tableOf: (row: Row) => (TableRef & { readonly label?: string | undefined }) | null | undefined,
): TableColumn<Row> {
  const labelOf = (row: Row) => {
    const table = tableOf(row);
    return table ? (table.label ?? shortName(table.name)) : '';
  };
  return {
    id: 'table',
    title: 'Table',
    width: 'minmax(112px, 1.4fr)',
    cell: (row, fitting) => {
      const table = tableOf(row);
      return table ? <TableLink table={table} label={labelOf(row)} limit={fitting} /> : '';
    },
    text: (row) => {
      const table = tableOf(row);
      return table ? `${table.namespace} ${table.name}` : '';
    },
    sortValue: labelOf,
  };
}

export function layerColumn<Row>(layerOf: TextOf<Row>): TableColumn<Row> {
  return {
    id: 'layer',
    title: 'Layer',
    minTableWidth: 560,
    width: '84px',
    cell: (row) => <Layer name={layerOf(row)} />,
    text: (row) => layerOf(row) ?? '',
    sortValue: (row) => layerOrder(layerOf(row)),
  };
}
