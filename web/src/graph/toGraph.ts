/** Converts answers of the server to lineage graphs. */
import type { ChangeJson, ColumnJson, Diff, EdgeJson, Traversal } from '../api/answers';
import { type ColumnRef, columnKey, tableLabel } from '../state/names';
import {
  type Change,
  type Column,
  columnFromName,
  createGraph,
  type Edge,
  edgeKey,
  type Fact,
  type LineageGraph,
} from './lineageGraph';

const SIGN = { up: -1, down: 1 } as const;

/** Converts a column. `side` is its side of the column in focus, and null for that column itself. */
export function toColumn(json: ColumnJson, side: 'up' | 'down' | null): Column {
  return {
    ...columnFromName(json, side === null ? 0 : SIGN[side] * (json.distance ?? 1)),
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

/** The graph of an upstream or downstream answer. An edge to a column on another result page is left out. */
export function graphFromTraversal(
  traversal: Pick<Traversal, 'of' | 'columns' | 'edges'>,
  side: 'up' | 'down',
): LineageGraph {
  const keys = new Map<number, string>();
  const columns = [
    ...traversal.of.map((json) => [json, toColumn(json, null)] as const),
    ...traversal.columns.map((json) => [json, toColumn(json, side)] as const),
  ];
  for (const [json, column] of columns) if (json.id !== undefined) keys.set(json.id, column.key);
  const edges = traversal.edges.flatMap((json) => {
    const from = keys.get(json.from);
    const to = keys.get(json.to);
    return from === undefined || to === undefined ? [] : [toEdge(from, to, toFact(json))];
  });
  // In a cycle the column in focus is listed twice. It is first in the list, and after `reverse` it wins.
  return createGraph(columns.map(([, column]) => column).reverse(), edges);
}

const isEdge = (change: ChangeJson): change is ChangeJson & { source: ColumnRef; target: ColumnRef } =>
  change.kind === 'edge' && change.source != null && change.target != null;

/** The graph of a comparison: only the edges that were added, removed or changed, and their columns. */
export function graphFromDiff(diff: Pick<Diff, 'added' | 'removed' | 'changed'>): LineageGraph {
  const columns: Column[] = [];
  const edges: Edge[] = [];
  for (const change of ['added', 'removed', 'changed'] as const) {
    for (const row of diff[change].filter(isEdge)) {
      columns.push(toColumn(row.source, null), toColumn(row.target, null));
      const edge = row.after ?? row;
      const fact = toFact({ ...edge, type: edge.type ?? 'DIRECT', job: row.job ?? edge.job ?? null });
      edges.push(toEdge(columnKey(row.source), columnKey(row.target), fact, change));
    }
  }
  return createGraph(columns, edges);
}
