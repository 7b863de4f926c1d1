/** Columns of the lineage table. */
import { distanceText, subtypeLabel } from '../graph/labels';
import { ShieldIcon } from '../shell/icons';
import { JobLink, TableLink } from '../shell/Links';
import { Name } from '../shell/Name';
import { Timestamp } from '../shell/Timestamp';
import { Layer, layerOrder } from './cells';
import type { LineageRow } from './lineageRows';
import type { TableColumn } from './tableModel';

const distance: TableColumn<LineageRow> = {
  id: 'distance',
  title: 'Hops',
  width: '44px',
  cell: ({ column }) => <span className="hops">{distanceText(column.distance)}</span>,
  text: ({ column }) => String(column.distance),
  sortValue: ({ column }) => column.distance,
};

const field: TableColumn<LineageRow> = {
  id: 'column',
  title: 'Column',
  width: 'minmax(96px, 1.1fr)',
  cell: ({ column }, fitting) => <Name className="mono" text={column.field} limit={fitting} />,
  text: ({ column }) => column.field,
};

const table: TableColumn<LineageRow> = {
  id: 'table',
  title: 'Table',
  width: 'minmax(112px, 1.3fr)',
  cell: ({ column }, fitting) => <TableLink table={column} label={column.table} limit={fitting} />,
  text: ({ column }) => `${column.namespace} ${column.name}`,
  sortValue: ({ column }) => column.table,
};

const layer: TableColumn<LineageRow> = {
  id: 'layer',
  title: 'Layer',
  minTableWidth: 560,
  width: '76px',
  cell: ({ column }) => <Layer name={column.layer} />,
  text: ({ column }) => column.layer ?? '',
  sortValue: ({ column }) => layerOrder(column.layer),
};

const effect: TableColumn<LineageRow> = {
  id: 'effect',
  title: 'Effect',
  width: '108px',
  cell: ({ fact, factCount, column }) => (
    <span className={column.direct ? '' : 'dotted'}>
      {fact === null ? '' : subtypeLabel(fact.subtype)}
      {factCount > 1 && <span className="muted"> +{factCount - 1}</span>}
      {fact?.masking && <ShieldIcon />}
    </span>
  ),
  text: ({ fact }) =>
    fact === null ? '' : `${fact.type} ${fact.subtype ?? ''}${fact.masking ? ' MASKING' : ''}`.trim(),
};

const expression: TableColumn<LineageRow> = {
  id: 'expression',
  title: 'Expression',
  minTableWidth: 940,
  width: 'minmax(60px, 1.2fr)',
  cell: ({ fact }, fitting) =>
    fact?.description ? <Name className="mono" text={fact.description} limit={fitting} /> : null,
  text: ({ fact }) => fact?.description ?? '',
};

const job: TableColumn<LineageRow> = {
  id: 'job',
  title: 'Job',
  width: 'minmax(72px, 1fr)',
  cell: ({ fact }, fitting) => (fact?.job ? <JobLink job={fact.job} limit={fitting} /> : null),
  text: ({ fact }) => fact?.job?.name ?? '',
};

const lastSeen: TableColumn<LineageRow> = {
  id: 'seen',
  title: 'Last seen',
  minTableWidth: 780,
  width: '76px',
  cell: ({ fact }) => <Timestamp at={fact?.lastSeen} />,
  text: ({ fact }) => fact?.lastSeen ?? '',
};

export const LINEAGE_COLUMNS: readonly TableColumn<LineageRow>[] = [
  distance,
  field,
  table,
  layer,
  effect,
  expression,
  job,
  lastSeen,
];
