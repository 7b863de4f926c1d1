/** Lineage between tables: one column per table, and one direct and one indirect edge between two of them. */
import type { DatasetJson, TableEdgeJson, TableTraversal } from '../api/answers';
import { countOf } from '../format/text';
import { tableKey } from '../state/names';
import type { Side } from '../state/url';
import {
  type Column,
  columnFromName,
  createGraph,
  type Edge,
  edgeKey,
  type Fact,
  type LineageGraph,
} from './lineageGraph';

function tableColumn(column: Column): Column {
  return {
    ...column,
    ...columnFromName({ ...column, field: '*' }),
    table: column.table,
    layer: column.layer,
  };
}

/** The graph with the columns of each table merged. Edges inside a table are dropped. */
export function toTableGraph(graph: LineageGraph): LineageGraph {
  const tables = new Map<string, Column>();
  for (const column of graph.columns.values()) {
    const known = tables.get(tableKey(column));
    const isNearer = known === undefined || Math.abs(column.distance) < Math.abs(known.distance);
    const layer = known?.layer ?? column.layer;
    const distance = isNearer ? column.distance : known.distance;
    tables.set(tableKey(column), { ...tableColumn(column), layer, distance });
  }
  const tableKeyOf = (key: string) => tables.get(key.slice(0, key.lastIndexOf('|')))?.key ?? key;
  const edges = [...graph.edges.values()].flatMap((edge) => {
    const [from, to] = [tableKeyOf(edge.from), tableKeyOf(edge.to)];
    return from === to ? [] : [{ ...edge, key: edgeKey(from, to, edge.direct), from, to }];
  });
  return createGraph(tables.values(), edges);
}

/** The graph with the tables and the edges between them added, so that both can be found by key. */
export function withTableEdges(graph: LineageGraph): LineageGraph {
  const tables = toTableGraph(graph);
  return {
    columns: new Map([...tables.columns, ...graph.columns]),
    edges: new Map([...tables.edges, ...graph.edges]),
  };
}

const SIGN = { up: -1, down: 1 } as const;

/** The graph of a table and the tables upstream and downstream of it, without columns. */
export function graphFromTables(
  focus: DatasetJson & { readonly id: number },
  traversals: readonly { readonly side: Side; readonly answer: Pick<TableTraversal, 'datasets' | 'edges'> }[],
): LineageGraph {
  const tables = new Map<number, Column>([[focus.id, datasetColumn(focus, 0)]]);
  for (const { side, answer } of traversals) {
    for (const json of answer.datasets) {
      if (!tables.has(json.id)) tables.set(json.id, datasetColumn(json, SIGN[side] * json.distance));
    }
  }
  const edges = traversals.flatMap(({ answer }) =>
    answer.edges.flatMap((json) => {
      const [from, to] = [tables.get(json.from)?.key, tables.get(json.to)?.key];
      return from === undefined || to === undefined || from === to ? [] : [tableEdge(json, from, to)];
    }),
  );
  return createGraph(tables.values(), edges);
}

function datasetColumn(json: DatasetJson, distance: number): Column {
  const column = columnFromName({ ...json, field: '*' }, distance);
  return { ...column, table: json.label ?? column.table, layer: json.layer ?? null };
}

function tableEdge(json: TableEdgeJson, from: string, to: string): Edge {
  const direct = json.type === 'DIRECT';
  const subtype = `${countOf(json.columns, 'edge')} by ${direct ? 'value' : 'condition'}`;
  const jobs = json.jobs.length > 0 ? json.jobs : [null];
  const facts = jobs.map((job): Fact => ({ ...UNKNOWN_FACT, type: json.type, subtype, job }));
  return { key: edgeKey(from, to, direct), from, to, direct, masking: false, facts, change: 'same' };
}

const UNKNOWN_FACT: Fact = {
  type: 'DIRECT',
  subtype: null,
  masking: false,
  description: null,
  job: null,
  firstSeen: null,
  lastSeen: null,
  lastRun: null,
  lastState: null,
  runs: null,
};
