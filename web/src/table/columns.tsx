/** The kinds of heads that lists are made of: a name, a word, a moment, a number, how long it took. */
import { count } from '../format/text';
import { duration } from '../format/time';
import { Moment, Name } from '../shell/Name';
import { shortName } from '../state/names';
import { Layer, layerOrder, State } from './cells';
import type { Head } from './tableModel';

type Said<Row> = (row: Row) => string | null | undefined;

interface Look {
  readonly width?: string;
  /** Longer names are cut in the middle. */
  readonly limit?: number;
  readonly className?: string;
  readonly from?: number;
}

export function nameHead<Row>(id: string, title: string, said: Said<Row>, look: Look = {}): Head<Row> {
  const { width = 'minmax(100px, 1fr)', limit = 44, className, from = 0 } = look;
  return {
    id,
    title,
    width,
    from,
    cell: (row) => {
      const text = said(row);
      return text ? <Name text={text} limit={limit} {...(className && { className })} /> : '';
    },
    text: (row) => said(row) ?? '',
  };
}

export function wordHead<Row>(id: string, title: string, said: Said<Row>, width: string): Head<Row> {
  return { id, title, width, cell: (row) => said(row) ?? '', text: (row) => said(row) ?? '' };
}

export function momentHead<Row>(
  id: string,
  title: string,
  said: Said<Row>,
  { exact = false } = {},
): Head<Row> {
  return {
    id,
    title,
    width: exact ? '140px' : '112px',
    cell: (row) => <Moment at={said(row)} exact={exact} />,
    text: (row) => said(row) ?? '',
  };
}

export function numberHead<Row>(
  id: string,
  title: string,
  of: (row: Row) => number | null | undefined,
): Head<Row> {
  return {
    id,
    title,
    width: '72px',
    number: true,
    cell: (row) => {
      const value = of(row);
      return value == null ? '' : count(value);
    },
    text: (row) => String(of(row) ?? ''),
    order: (row) => of(row) ?? null,
  };
}

export function tookHead<Row>(started: Said<Row>, ended: Said<Row>): Head<Row> {
  const took = (row: Row) => {
    const [from, to] = [started(row), ended(row)];
    return from && to ? Date.parse(to) - Date.parse(from) : null;
  };
  return {
    id: 'took',
    title: 'Took',
    width: '96px',
    number: true,
    cell: (row) => {
      const milliseconds = took(row);
      return milliseconds === null ? '–' : duration(milliseconds);
    },
    text: (row) => String(took(row) ?? ''),
    order: took,
  };
}

export function stateHead<Row>(said: Said<Row>): Head<Row> {
  return {
    id: 'state',
    title: 'State',
    width: '112px',
    cell: (row) => <State name={said(row)} />,
    text: (row) => said(row) ?? '',
  };
}

export function tableHead<Row extends { readonly namespace: string; readonly name: string }>(): Head<Row> {
  return {
    id: 'table',
    title: 'Table',
    width: 'minmax(140px, 1.4fr)',
    cell: (row) => <Name text={shortName(row.name)} limit={40} />,
    text: (row) => `${row.namespace} ${row.name}`,
    order: (row) => shortName(row.name),
  };
}

export function layerHead<Row>(said: Said<Row>): Head<Row> {
  return {
    id: 'layer',
    title: 'Layer',
    width: '84px',
    cell: (row) => <Layer name={said(row)} />,
    text: (row) => said(row) ?? '',
    order: (row) => layerOrder(said(row)),
  };
}
