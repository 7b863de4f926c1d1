/** Factories for table columns: names, texts, times, numbers, durations, states, tables and layers. */
import { count } from '../format/text';
import { duration } from '../format/time';
import { Name } from '../shell/Name';
import { Timestamp } from '../shell/Timestamp';
import { shortName } from '../state/names';
import { Layer, layerOrder, State } from './cells';
import type { TableColumn } from './tableModel';

type TextOf<Row> = (row: Row) => string | null | undefined;

interface NameOptions {
  readonly width?: string;
  /** Longer names are truncated in the middle. */
  readonly limit?: number;
  readonly className?: string;
  readonly minTableWidth?: number;
}

export function nameColumn<Row>(
  id: string,
  title: string,
  textOf: TextOf<Row>,
  options: NameOptions = {},
): TableColumn<Row> {
  const { width = 'minmax(100px, 1fr)', limit = 44, className, minTableWidth = 0 } = options;
  return {
    id,
    title,
    width,
    minTableWidth,
    cell: (row) => {
      const text = textOf(row);
      return text ? <Name text={text} limit={limit} {...(className && { className })} /> : '';
    },
    text: (row) => textOf(row) ?? '',
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
    width: exact ? '140px' : '112px',
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
    width: '96px',
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
    width: '112px',
    cell: (row) => <State name={stateOf(row)} />,
    text: (row) => stateOf(row) ?? '',
  };
}

export function tableColumn<
  Row extends { readonly namespace: string; readonly name: string },
>(): TableColumn<Row> {
  return {
    id: 'table',
    title: 'Table',
    width: 'minmax(140px, 1.4fr)',
    cell: (row) => <Name text={shortName(row.name)} limit={40} />,
    text: (row) => `${row.namespace} ${row.name}`,
    sortValue: (row) => shortName(row.name),
  };
}

export function layerColumn<Row>(layerOf: TextOf<Row>): TableColumn<Row> {
  return {
    id: 'layer',
    title: 'Layer',
    width: '84px',
    cell: (row) => <Layer name={layerOf(row)} />,
    text: (row) => layerOf(row) ?? '',
    sortValue: (row) => layerOrder(layerOf(row)),
  };
}
