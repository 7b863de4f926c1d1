/** The heads of lineage and impact lists. */

import { effectOf } from '../graph/labels';
import { ShieldIcon } from '../shell/icons';
import { Moment, Name } from '../shell/Name';
import { Layer, layerOrder } from './cells';
import type { LineageRow } from './lineageRows';
import type { Head } from './tableModel';

const arrow = (distance: number) => (distance < 0 ? `← ${-distance}` : distance > 0 ? `→ ${distance}` : '·');

const hop: Head<LineageRow> = {
  id: 'distance',
  title: 'Hops',
  width: '44px',
  cell: ({ column }) => <span className="hops">{arrow(column.distance)}</span>,
  text: ({ column }) => String(column.distance),
  order: ({ column }) => column.distance,
};

const field: Head<LineageRow> = {
  id: 'column',
  title: 'Column',
  width: 'minmax(72px, 1.1fr)',
  cell: ({ column }) => <Name className="mono" text={column.field} limit={48} />,
  text: ({ column }) => column.field,
};

const table: Head<LineageRow> = {
  id: 'table',
  title: 'Table',
  width: 'minmax(96px, 1.3fr)',
  cell: ({ column }) => (
    <span title={column.name}>
      <Name text={column.table} limit={40} />
    </span>
  ),
  text: ({ column }) => `${column.namespace} ${column.name}`,
  order: ({ column }) => column.table,
};

const layer: Head<LineageRow> = {
  id: 'layer',
  title: 'Layer',
  width: '76px',
  cell: ({ column }) => <Layer name={column.layer} />,
  text: ({ column }) => column.layer ?? '',
  order: ({ column }) => layerOrder(column.layer),
};

const effect: Head<LineageRow> = {
  id: 'effect',
  title: 'Effect',
  width: '108px',
  cell: ({ fact, facts, column }) => (
    <span className={column.direct ? '' : 'dotted'}>
      {fact === null ? '' : effectOf(fact.subtype)}
      {facts > 1 && <span className="muted"> +{facts - 1}</span>}
      {fact?.masking && <ShieldIcon />}
    </span>
  ),
  text: ({ fact }) =>
    fact === null ? '' : `${fact.type} ${fact.subtype ?? ''}${fact.masking ? ' MASKING' : ''}`.trim(),
};

const expression: Head<LineageRow> = {
  id: 'expression',
  title: 'Expression',
  from: 940,
  width: 'minmax(60px, 1.2fr)',
  cell: ({ fact }) =>
    fact?.description ? <Name className="mono" text={fact.description} limit={56} /> : null,
  text: ({ fact }) => fact?.description ?? '',
};

const job: Head<LineageRow> = {
  id: 'job',
  title: 'Job',
  width: 'minmax(72px, 1fr)',
  cell: ({ fact }) => (fact?.job ? <Name text={fact.job.name} limit={36} /> : null),
  text: ({ fact }) => fact?.job?.name ?? '',
};

const seen: Head<LineageRow> = {
  id: 'seen',
  title: 'Last seen',
  from: 780,
  width: '104px',
  cell: ({ fact }) => <Moment at={fact?.lastSeen} />,
  text: ({ fact }) => fact?.lastSeen ?? '',
};

export const LINEAGE: readonly Head<LineageRow>[] = [hop, field, table, layer, effect, expression, job, seen];

export interface ImpactRow extends LineageRow {
  readonly kinds: readonly string[];
}

const kind: Head<ImpactRow> = {
  id: 'kind',
  title: 'Used as',
  width: '104px',
  cell: (row) => row.kinds.map((each) => each.replace('_', ' ')).join(', '),
  text: (row) => row.kinds.join(' '),
};

export const IMPACT: readonly Head<ImpactRow>[] = [hop, field, table, layer, kind, effect, job, seen];
