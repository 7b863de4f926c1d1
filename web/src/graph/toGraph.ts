/** Answers of the server as pictures. */
import type { ChangeJson, ColumnJson, Diff, EdgeJson, Walk } from '../api/answers';
import { type ColumnRef, columnKey, shortName } from '../state/names';
import {
  bareColumn,
  type Change,
  type Column,
  type Edge,
  edgeKey,
  type Fact,
  type Picture,
  pictureOf,
} from './lineageGraph';

const SIGN = { up: -1, down: 1 } as const;

/** `silver.orders` of a column labelled `silver.orders.amount`; made from the name where there is no label. */
function tableLabel({ label, field, name }: ColumnJson): string {
  return label?.endsWith(`.${field}`) ? label.slice(0, -field.length - 1) : shortName(name);
}

/** A column as the page knows it; `side` says on which side of the column in question it lies. */
export function toColumn(json: ColumnJson, side: 'up' | 'down' | null): Column {
  return {
    ...bareColumn(json, side === null ? 0 : SIGN[side] * (json.distance ?? 1)),
    id: json.id ?? null,
    table: tableLabel(json),
    type: json.type ?? null,
    tags: json.tags ?? [],
    layer: json.layer ?? null,
    up: json.up ?? null,
    down: json.down ?? null,
    direct: json.relation !== 'indirect',
    masked: json.masked ?? false,
  };
}

function toFact(json: Omit<EdgeJson, 'from' | 'to'>): Fact {
  return {
    type: json.type,
    subtype: json.subtype ?? null,
    masking: json.masking ?? false,
    description: json.description ?? null,
    job: json.job ?? null,
    firstSeen: json.first_seen ?? null,
    lastSeen: json.last_seen ?? null,
    lastRun: json.last_run ?? null,
    lastState: json.last_state ?? null,
    runs: json.runs ?? null,
  };
}

function toEdge(from: string, to: string, fact: Fact, change: Change = 'same'): Edge {
  const direct = fact.type === 'DIRECT';
  return { key: edgeKey(from, to, direct), from, to, direct, masking: fact.masking, facts: [fact], change };
}

/** The picture of a walk in one direction. An edge to a column that is on another page is left out. */
export function fromWalk(walk: Pick<Walk, 'of' | 'columns' | 'edges'>, side: 'up' | 'down'): Picture {
  const keys = new Map<number, string>();
  const columns = [
    ...walk.of.map((json) => [json, toColumn(json, null)] as const),
    ...walk.columns.map((json) => [json, toColumn(json, side)] as const),
  ];
  for (const [json, column] of columns) if (json.id !== undefined) keys.set(json.id, column.key);
  const edges = walk.edges.flatMap((json) => {
    const from = keys.get(json.from);
    const to = keys.get(json.to);
    return from === undefined || to === undefined ? [] : [toEdge(from, to, toFact(json))];
  });
  // The asked column comes first and wins over itself in a cycle.
  return pictureOf(columns.map(([, column]) => column).reverse(), edges);
}

const isEdge = (change: ChangeJson): change is ChangeJson & { source: ColumnRef; target: ColumnRef } =>
  change.kind === 'edge' && change.source != null && change.target != null;

/** The picture of what changed between two moments: only lines that came, went or changed, and their ends. */
export function fromDiff(diff: Pick<Diff, 'added' | 'removed' | 'changed'>): Picture {
  const columns: Column[] = [];
  const edges: Edge[] = [];
  for (const change of ['added', 'removed', 'changed'] as const) {
    for (const row of diff[change].filter(isEdge)) {
      columns.push(toColumn(row.source, null), toColumn(row.target, null));
      const said = row.after ?? row;
      const fact = toFact({ ...said, type: said.type ?? 'DIRECT', job: row.job ?? said.job ?? null });
      edges.push(toEdge(columnKey(row.source), columnKey(row.target), fact, change));
    }
  }
  return pictureOf(columns, edges);
}
