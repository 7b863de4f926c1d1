/** Columns of the lineage and impact tables. */
import { subtypeLabel } from '../graph/labels';
import { ShieldIcon } from '../shell/icons';
import { Name } from '../shell/Name';
import { Timestamp } from '../shell/Timestamp';
import { Layer, layerOrder } from './cells';
import type { LineageRow } from './lineageRows';
import type { TableColumn } from './tableModel';

const distanceText = (distance: number) =>
  distance < 0 ? `← ${-distance}` : distance > 0 ? `→ ${distance}` : '·';

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
  width: 'minmax(72px, 1.1fr)',
  cell: ({ column }) => <Name className="mono" text={column.field} limit={48} />,
  text: ({ column }) => column.field,
};

const table: TableColumn<LineageRow> = {
  id: 'table',
  title: 'Table',
  width: 'minmax(96px, 1.3fr)',
  cell: ({ column }) => (
    <span title={column.name}>
      <Name text={column.table} limit={40} />
    </span>
  ),
  text: ({ column }) => `${column.namespace} ${column.name}`,
  sortValue: ({ column }) => column.table,
};

const layer: TableColumn<LineageRow> = {
  id: 'layer',
  title: 'Layer',
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
  cell: ({ fact }) =>
    fact?.description ? <Name className="mono" text={fact.description} limit={56} /> : null,
  text: ({ fact }) => fact?.description ?? '',
};

const job: TableColumn<LineageRow> = {
  id: 'job',
  title: 'Job',
  width: 'minmax(72px, 1fr)',
  cell: ({ fact }) => (fact?.job ? <Name text={fact.job.name} limit={36} /> : null),
  text: ({ fact }) => fact?.job?.name ?? '',
};

const lastSeen: TableColumn<LineageRow> = {
  id: 'seen',
  title: 'Last seen',
  minTableWidth: 780,
  width: '104px',
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

export interface ImpactRow extends LineageRow {
  readonly kinds: readonly string[];
}

const kind: TableColumn<ImpactRow> = {
  id: 'kind',
  title: 'Used as',
  width: '104px',
  cell: (row) => row.kinds.map((each) => each.replace('_', ' ')).join(', '),
  text: (row) => row.kinds.join(' '),
};

export const IMPACT_COLUMNS: readonly TableColumn<ImpactRow>[] = [
  distance,
  field,
  table,
  layer,
  kind,
  effect,
  job,
  lastSeen,
];
