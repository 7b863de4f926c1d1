/** What is known of the drawn part of the graph: columns and edges by key, united from any number of answers. */
import { type ColumnRef, columnKey, shortName } from '../state/names';

export interface Column extends ColumnRef {
  readonly key: string;
  /** The id that the server's edges use; null where the answer had none. */
  readonly id: number | null;
  /** The table's short name, as answers say it. */
  readonly table: string;
  readonly type: string | null;
  readonly tags: readonly string[];
  readonly layer: string | null;
  /** How many columns feed it, and how many it feeds, directly; null when the answer did not say. */
  readonly up: number | null;
  readonly down: number | null;
  /** Steps from the column in question; upstream is negative. */
  readonly distance: number;
  readonly direct: boolean;
  readonly masked: boolean;
}

/** One way in which a job makes one column from another. */
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

/** All facts between two columns of one kind (direct or not): one line in the drawing. */
export interface Edge {
  readonly key: string;
  readonly from: string;
  readonly to: string;
  readonly direct: boolean;
  readonly masking: boolean;
  readonly facts: readonly Fact[];
  readonly change: Change;
}

export interface Picture {
  readonly columns: ReadonlyMap<string, Column>;
  readonly edges: ReadonlyMap<string, Edge>;
}

export const EMPTY: Picture = { columns: new Map(), edges: new Map() };

/** The key of the line between two columns. */
export function edgeKey(from: string, to: string, direct: boolean): string {
  return `${from}${direct ? '→' : '⇢'}${to}`;
}

const factText = (fact: Fact) => JSON.stringify([fact.subtype, fact.masking, fact.description, fact.job]);

function unite(old: Edge | undefined, edge: Edge): Edge {
  if (old === undefined) return edge;
  const known = new Set(old.facts.map(factText));
  const facts = [...old.facts, ...edge.facts.filter((fact) => !known.has(factText(fact)))];
  const change = old.change === edge.change ? old.change : 'changed';
  // A line is masked only when every way along it masks: one clear way is a leak.
  return { ...old, facts, change, masking: facts.every((fact) => fact.masking) };
}

const nearer = (old: Column | undefined, column: Column) =>
  old === undefined || Math.abs(column.distance) < Math.abs(old.distance) ? column : old;

/** Both pictures as one; a column keeps its smaller distance, a line the facts of both. */
export function join(first: Picture, second: Picture): Picture {
  const columns = new Map(first.columns);
  const edges = new Map(first.edges);
  for (const column of second.columns.values()) {
    const old = columns.get(column.key);
    const kept = nearer(old, column);
    columns.set(column.key, { ...kept, direct: (old?.direct ?? false) || column.direct });
  }
  for (const edge of second.edges.values()) edges.set(edge.key, unite(edges.get(edge.key), edge));
  return { columns, edges };
}

/** A picture of these columns and lines; lines between the same columns become one. */
export function pictureOf(columns: Iterable<Column>, edges: Iterable<Edge>): Picture {
  const lines = new Map<string, Edge>();
  for (const edge of edges) lines.set(edge.key, unite(lines.get(edge.key), edge));
  return { columns: new Map([...columns].map((column) => [column.key, column])), edges: lines };
}

/** The picture without indirect lines, and without the columns that only they reach. */
export function directOnly(picture: Picture): Picture {
  const edges = new Map([...picture.edges].filter(([, edge]) => edge.direct));
  const columns = new Map([...picture.columns].filter(([, column]) => column.direct));
  return { columns, edges };
}

/** A column nothing is known of but its name. */
export function bareColumn(ref: ColumnRef, distance = 0): Column {
  const { namespace, name, field } = ref;
  const key = columnKey(ref);
  return {
    key,
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
