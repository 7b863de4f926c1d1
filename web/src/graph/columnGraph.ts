/** Loads the graph of one column: its upstream and downstream lineage, then the expanded cards in order. */
import type { Dataset, Traversal, Unknown } from '../api/answers';
import type { QueryOptions } from '../api/queries';
import { countOf } from '../format/text';
import { type ColumnRef, columnKey, readColumnKey, type TableRef, tableKey, tableOf } from '../state/names';
import type { Expansion, Side, View } from '../state/url';
import { EMPTY_GRAPH, type LineageGraph, mergeGraphs, subgraph } from './lineageGraph';
import { graphFromTraversal, toColumn } from './toGraph';

/** Neighbour tables that one click on a card adds. */
export const TABLES_PER_EXPANSION = 8;

/** The queries that the graph is loaded with; the tests pass their own. */
export interface GraphQueries {
  readonly traversal: (
    side: Side,
    columns: readonly ColumnRef[],
    options: QueryOptions,
  ) => Promise<Traversal>;
  readonly dataset: (table: TableRef, asOf: string | null) => Promise<Pick<Dataset, 'columns'>>;
}

export interface ColumnGraph {
  readonly graph: LineageGraph;
  readonly verdicts: readonly string[];
  readonly asOf: string | null;
  readonly unknown: readonly Unknown[];
  readonly leftOut: number;
  /** Whether the depth hides columns. */
  readonly isDepthLimited: boolean;
  /** Position of the next page of each traversal; empty when everything is loaded. */
  readonly cursors: readonly Cursor[];
}

export interface Cursor {
  readonly side: Side;
  readonly position: string;
}

export type ColumnGraphView = Pick<View, 'column' | 'direction' | 'depth' | 'indirect' | 'open' | 'asOf'>;

const EMPTY_COLUMN_GRAPH: ColumnGraph = {
  graph: EMPTY_GRAPH,
  verdicts: [],
  asOf: null,
  unknown: [],
  leftOut: 0,
  isDepthLimited: false,
  cursors: [],
};

const optionsOf = ({ asOf, indirect, depth }: ColumnGraphView): QueryOptions => ({ asOf, indirect, depth });

/** The part of a graph that consists of the table `start` and the `count` tables nearest to it. */
export function nearestTables(graph: LineageGraph, start: string, count: number): LineageGraph {
  const distances = new Map<string, number>();
  for (const column of graph.columns.values()) {
    const key = tableKey(column);
    const known = distances.get(key) ?? Number.POSITIVE_INFINITY;
    distances.set(key, Math.min(known, Math.abs(column.distance)));
  }
  distances.delete(start);
  const sorted = [...distances].sort((a, b) => a[1] - b[1] || a[0].localeCompare(b[0]));
  const kept = new Set([start, ...sorted.slice(0, count).map(([key]) => key)]);
  return subgraph(graph, (column) => kept.has(tableOf(column)));
}

const sidesOf = (view: ColumnGraphView): readonly Side[] =>
  view.direction === 'both' ? ['up', 'down'] : [view.direction];

const expansionCount = (expansions: readonly Expansion[], table: string, side: Side) =>
  expansions.find((each) => each.table === table && each.side === side)?.count ?? TABLES_PER_EXPANSION;

/** Adds `offset` to the distances, so that they count from the column in focus. Known columns keep theirs. */
function offsetDistances(graph: LineageGraph, known: LineageGraph, offset: number): LineageGraph {
  const columns = new Map(
    [...graph.columns].map(([key, column]) => [
      key,
      { ...column, distance: known.columns.get(key)?.distance ?? column.distance + offset },
    ]),
  );
  return { columns, edges: graph.edges };
}

/** The graph with the neighbours of one expanded card. */
async function expandTable(
  graph: LineageGraph,
  { table, side, count }: Expansion,
  view: ColumnGraphView,
  queries: GraphQueries,
) {
  const columns = [...graph.columns.values()].filter(
    (column) => tableOf(column.key) === table && column.field !== '*',
  );
  if (columns.length === 0) return { graph, unknown: [] };
  const traversal = await queries.traversal(side, columns, { ...optionsOf(view), depth: 1 });
  const nearest = columns.reduce((a, b) => (Math.abs(a.distance) <= Math.abs(b.distance) ? a : b));
  const neighbours = nearestTables(graphFromTraversal(traversal, side), table, count);
  return {
    graph: mergeGraphs(graph, offsetDistances(neighbours, graph, nearest.distance)),
    unknown: traversal.unknown ?? [],
  };
}

/** Text for the columns that expanded cards add, since the verdicts of the traversals do not count them. */
function expansionVerdict(graph: LineageGraph, beforeExpansion: LineageGraph): string[] {
  const added = [...graph.columns.values()].filter(
    ({ key, field }) => field !== '*' && !beforeExpansion.columns.has(key),
  );
  if (added.length === 0) return [];
  const tables = new Set(added.map(tableKey)).size;
  return [`${countOf(added.length, 'more column')} in ${countOf(tables, 'dataset')} on expanded cards`];
}

const withoutDuplicates = (unknown: readonly Unknown[]): Unknown[] => [
  ...new Map(unknown.map((each) => [`${each.what} ${each.why}`, each])).values(),
];

/** The graph with type, tags and neighbour counts of the column in focus, which a traversal does not contain. */
async function withFocusDetails(
  graph: LineageGraph,
  focus: ColumnRef,
  asOf: string | null,
  queries: GraphQueries,
): Promise<LineageGraph> {
  const table = await queries.dataset(focus, asOf).catch(() => null);
  const details = table?.columns.find((column) => column.field === focus.field);
  if (details === undefined) return graph;
  const column = { ...toColumn(details, null), direct: true };
  return { ...graph, columns: new Map(graph.columns).set(columnKey(focus), column) };
}

const nextCursor = (traversal: Traversal, side: Side): Cursor[] =>
  traversal.cursor === null ? [] : [{ side, position: traversal.cursor }];

/** The loaded graph with the next page of each traversal that has one. */
export async function loadNextPages(
  loaded: ColumnGraph,
  view: ColumnGraphView,
  queries: GraphQueries,
): Promise<ColumnGraph> {
  const focus = readColumnKey(view.column ?? '');
  if (focus === null) return loaded;
  const requests = loaded.cursors.map(async ({ side, position }) => ({
    side,
    traversal: await queries.traversal(side, [focus], { ...optionsOf(view), cursor: position }),
  }));
  const pages = await Promise.all(requests);
  return {
    ...loaded,
    graph: pages.reduce((graph, { side, traversal }) => mergePage(graph, traversal, side), loaded.graph),
    leftOut: pages.reduce((sum, { traversal }) => sum + traversal.left_out, 0),
    cursors: pages.flatMap(({ traversal, side }) => nextCursor(traversal, side)),
  };
}

/** Merges a result page. Its edges refer by id to columns of earlier pages, which it does not repeat. */
function mergePage(graph: LineageGraph, page: Traversal, side: Side): LineageGraph {
  const withId = [...graph.columns.values()].filter((column) => column.id !== null);
  const earlier = withId.map(({ id, namespace, name, field, distance }) => ({
    id: id as number,
    namespace,
    name,
    field,
    distance: Math.abs(distance),
  }));
  return mergeGraphs(graph, graphFromTraversal({ ...page, columns: [...earlier, ...page.columns] }, side));
}

/** Merges the traversals of the column in focus. At one hop, each side is limited to the nearest tables. */
function mergeTraversals(
  traversals: readonly { readonly side: Side; readonly traversal: Traversal }[],
  start: string,
  view: ColumnGraphView,
): LineageGraph {
  return traversals.reduce((graph, { side, traversal }) => {
    const complete = graphFromTraversal(traversal, side);
    const limit = expansionCount(view.open, start, side);
    return mergeGraphs(graph, view.depth === 1 ? nearestTables(complete, start, limit) : complete);
  }, EMPTY_GRAPH);
}

/** Whether there are columns beyond the depth of the traversal. */
export const isDepthLimited = ({ totals }: Pick<Traversal, 'totals'>) =>
  (totals.hops ?? 0) > (totals.depth ?? 0);

/** Loads everything that the view shows. Errors of the queries are passed on. */
export async function loadColumnGraph(view: ColumnGraphView, queries: GraphQueries): Promise<ColumnGraph> {
  const focus = view.column === null ? null : readColumnKey(view.column);
  if (focus === null) return EMPTY_COLUMN_GRAPH;
  const sides = sidesOf(view);
  const traversals = await Promise.all(
    sides.map(async (side) => ({
      side,
      traversal: await queries.traversal(side, [focus], optionsOf(view)),
    })),
  );
  const start = tableKey(focus);
  const merged = mergeTraversals(traversals, start, view);
  const beforeExpansion = await withFocusDetails(merged, focus, view.asOf, queries);
  let graph = beforeExpansion;
  const unknown = traversals.flatMap(({ traversal }) => traversal.unknown ?? []);
  for (const expansion of view.open) {
    if (expansion.table === start && sides.includes(expansion.side)) continue; // done by mergeTraversals
    const expanded = await expandTable(graph, expansion, view, queries);
    graph = expanded.graph;
    unknown.push(...expanded.unknown);
  }
  return {
    graph,
    verdicts: [
      ...traversals.map(({ traversal }) => traversal.verdict),
      ...expansionVerdict(graph, beforeExpansion),
    ],
    asOf: traversals[0]?.traversal.as_of ?? null,
    unknown: withoutDuplicates(unknown),
    leftOut: traversals.reduce((sum, { traversal }) => sum + traversal.left_out, 0),
    isDepthLimited: traversals.some(({ traversal }) => isDepthLimited(traversal)),
    cursors: traversals.flatMap(({ traversal, side }) => nextCursor(traversal, side)),
  };
}

/** The expansions after a click on a card's chip; `shown` is the number of tables shown there without one. */
export function addExpansion(
  expansions: readonly Expansion[],
  table: string,
  side: Side,
  shown: number,
): Expansion[] {
  const known = expansions.find((each) => each.table === table && each.side === side);
  const others = expansions.filter((each) => each !== known);
  return [...others, { table, side, count: (known?.count ?? shown) + TABLES_PER_EXPANSION }];
}
