/** The lineage that the page has loaded: columns and edges by key, merged from any number of answers. */
import { type ColumnRef, columnKey, shortName } from '../state/names';

export interface Column extends ColumnRef {
  readonly key: string;
  /** The id that the server's edges use; null when the answer had none. */
  readonly id: number | null;
  /** The table's short name, as in answers. */
  readonly table: string;
  readonly type: string | null;
  readonly tags: readonly string[];
  readonly layer: string | null;
  /** Number of direct source columns and direct target columns; null when unknown. */
  readonly up: number | null;
  readonly down: number | null;
  /** Hops from the column in focus; upstream is negative. */
  readonly distance: number;
  /** Whether at least one path of direct edges leads to the column in focus. */
  readonly direct: boolean;
  readonly masked: boolean;
}

/** How one job derives one column from another. */
export interface Fact {
  readonly type: 'DIRECT' | 'INDIRECT';
  readonly subtype: string | null;
  readonly masking: boolean;
  readonly description: string | null;
  readonly job: { readonly namespace: string; readonly name: string } | null;
  readonly firstSeen: string | null;
  readonly lastSeen: string | null;
  readonly lastRun: string | null;
  readonly lastState: string | null;
  readonly runs: number | null;
}

export type Change = 'added' | 'removed' | 'changed' | 'same';

/** All direct facts, or all indirect facts, between two columns. Drawn as one line. */
export interface Edge {
  readonly key: string;
  readonly from: string;
  readonly to: string;
  readonly direct: boolean;
  readonly masking: boolean;
  readonly facts: readonly Fact[];
  readonly change: Change;
}

export interface LineageGraph {
  readonly columns: ReadonlyMap<string, Column>;
  readonly edges: ReadonlyMap<string, Edge>;
}

export const EMPTY_GRAPH: LineageGraph = { columns: new Map(), edges: new Map() };

/** The key of the edge between two columns. */
export function edgeKey(from: string, to: string, direct: boolean): string {
  return `${from}${direct ? '→' : '⇢'}${to}`;
}

const factKey = (fact: Fact) => JSON.stringify([fact.subtype, fact.masking, fact.description, fact.job]);

function mergeEdges(known: Edge | undefined, edge: Edge): Edge {
  if (known === undefined) return edge;
  const keys = new Set(known.facts.map(factKey));
  const facts = [...known.facts, ...edge.facts.filter((fact) => !keys.has(factKey(fact)))];
  const change = known.change === edge.change ? known.change : 'changed';
  // An edge is masked only when every fact masks: one unmasked fact is a leak.
  return { ...known, facts, change, masking: facts.every((fact) => fact.masking) };
}

const nearer = (known: Column | undefined, column: Column) =>
  known === undefined || Math.abs(column.distance) < Math.abs(known.distance) ? column : known;

/** Both graphs as one. A column keeps its smaller distance, an edge the facts of both. */
export function mergeGraphs(first: LineageGraph, second: LineageGraph): LineageGraph {
  const columns = new Map(first.columns);
  const edges = new Map(first.edges);
  for (const column of second.columns.values()) {
    const known = columns.get(column.key);
    const kept = nearer(known, column);
    columns.set(column.key, { ...kept, direct: (known?.direct ?? false) || column.direct });
  }
  for (const edge of second.edges.values()) edges.set(edge.key, mergeEdges(edges.get(edge.key), edge));
  return { columns, edges };
}

/** A graph of these columns and edges; edges with the same key are merged. */
export function createGraph(columns: Iterable<Column>, edges: Iterable<Edge>): LineageGraph {
  const merged = new Map<string, Edge>();
  for (const edge of edges) merged.set(edge.key, mergeEdges(merged.get(edge.key), edge));
  return { columns: new Map([...columns].map((column) => [column.key, column])), edges: merged };
}

/** The part of a graph that consists of these columns and the edges between them. */
export function subgraph(graph: LineageGraph, isIncluded: (column: string) => boolean): LineageGraph {
  const columns = new Map([...graph.columns].filter(([key]) => isIncluded(key)));
  const edges = new Map(
    [...graph.edges].filter(([, edge]) => columns.has(edge.from) && columns.has(edge.to)),
  );
  return { columns, edges };
}

/** The graph without indirect edges, and without the columns that only they reach. */
export function withoutIndirect(graph: LineageGraph): LineageGraph {
  const edges = new Map([...graph.edges].filter(([, edge]) => edge.direct));
  const columns = new Map([...graph.columns].filter(([, column]) => column.direct));
  return { columns, edges };
}

/** A column with only its name; the other fields are unknown. */
export function columnFromName(ref: ColumnRef, distance = 0): Column {
  const { namespace, name, field } = ref;
  return {
    key: columnKey(ref),
    id: null,
    namespace,
    name,
    field,
    table: shortName(name),
    type: null,
    tags: [],
    layer: null,
    up: null,
    down: null,
    distance,
    direct: true,
    masked: false,
  };
}
