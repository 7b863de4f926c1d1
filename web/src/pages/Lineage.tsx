/** The lineage graph of one column, and the answer to the selected question about it. */
import { useMemo, useState } from 'react';
import { fetchDataset, fetchImpact, fetchTraversal } from '../api/queries';
import { type QueryState, useQuery } from '../api/useQuery';
import { type ColumnGraph, loadColumnGraph, loadNextPages } from '../graph/columnGraph';
import { GraphPane } from '../graph/GraphPane';
import { EMPTY_GRAPH, withoutIndirect } from '../graph/lineageGraph';
import { graphFromTraversal } from '../graph/toGraph';
import { reasonsByTable } from '../graph/unknownReasons';
import { DetailPanel } from '../panel/DetailPanel';
import { GraphScreen } from '../shell/GraphScreen';
import { EmptyState, QueryResult } from '../shell/QueryState';
import { type ColumnRef, columnKey, readColumnKey, shortName } from '../state/names';
import type { View } from '../state/url';
import { navigate, openColumn, useView } from '../state/view';
import { AnswerTable } from '../table/AnswerTable';
import { IMPACT_COLUMNS, LINEAGE_COLUMNS } from '../table/lineageColumns';
import { lineageRows } from '../table/lineageRows';
import { LineageToolbar } from './LineageToolbar';
import { ReadersTable, WritersTable } from './ReadersAndWriters';

const QUERIES = { traversal: fetchTraversal, dataset: fetchDataset };
/** Depth of an impact query. */
const MAX_IMPACT_DEPTH = 50;

interface LineageAnswer extends ColumnGraph {
  /** How each affected column is used, by column key; empty except for impact. */
  readonly kinds: ReadonlyMap<string, readonly string[]>;
}

async function loadImpact(column: ColumnRef, view: View): Promise<LineageAnswer> {
  const answer = await fetchImpact([column], { asOf: view.asOf, depth: MAX_IMPACT_DEPTH });
  // An impact answer does not contain the details of the column itself.
  const oneHop = await loadColumnGraph({ ...view, direction: 'down', depth: 1, open: [] }, QUERIES);
  const focus = oneHop.graph.columns.get(columnKey(column));
  const graph = graphFromTraversal(answer, 'down');
  const columns = focus ? new Map(graph.columns).set(focus.key, focus) : graph.columns;
  return {
    graph: { columns, edges: graph.edges },
    verdicts: [answer.verdict],
    asOf: answer.as_of,
    unknown: answer.unknown ?? [],
    leftOut: answer.left_out,
    cursors: [],
    kinds: new Map(answer.columns.map((json) => [columnKey(json), json.kinds ?? []])),
  };
}

async function loadLineage(view: View): Promise<LineageAnswer> {
  const column = readColumnKey(view.column ?? '');
  if (column !== null && view.ask === 'impact') return loadImpact(column, view);
  return { ...(await loadColumnGraph(view, QUERIES)), kinds: new Map() };
}

/** The answer with the pages that were loaded on request. */
function useLoadedPages(query: QueryState<LineageAnswer>, view: View) {
  const [pages, setPages] = useState<{ first: LineageAnswer; loaded: LineageAnswer } | null>(null);
  const first = query.value;
  const answer = first !== null && pages?.first === first ? pages.loaded : first;
  const loadMore = async () => {
    if (first === null || answer === null) return;
    setPages({ first, loaded: { ...answer, ...(await loadNextPages(answer, view, QUERIES)) } });
  };
  const hasMore = answer !== null && answer.cursors.length > 0;
  return { answer, onLoadMore: hasMore ? () => void loadMore() : null };
}

function useLineage(view: View): QueryState<LineageAnswer> {
  const { column, direction, depth, indirect, open, asOf } = view;
  const question = view.ask === 'impact' ? 'impact' : 'lineage';
  const key = JSON.stringify([question, column, direction, depth, indirect, open, asOf]);
  return useQuery(key, () => loadLineage(view));
}

interface AnswerProps {
  readonly answer: LineageAnswer;
  readonly view: View;
  readonly onLoadMore: (() => void) | null;
}

const EMPTY_TEXTS = {
  both: 'No upstream or downstream columns.',
  up: 'No upstream columns.',
  down: 'No downstream columns.',
} as const;

function emptyText(answer: LineageAnswer, view: View): string {
  if (answer.unknown.length > 0) return 'Unknown: lineage is missing here. See Coverage.';
  return EMPTY_TEXTS[view.ask === 'impact' ? 'down' : view.direction];
}

function LineageTable({ answer, view, onLoadMore }: AnswerProps) {
  const rows = useMemo(
    () =>
      lineageRows(answer.graph, view.column).map((row) => ({
        ...row,
        kinds: answer.kinds.get(row.column.key) ?? [],
      })),
    [answer, view.column],
  );
  const column = readColumnKey(view.column ?? '');
  const exportName = column === null ? 'lineage' : `${shortName(column.name)}.${column.field}-${view.ask}`;
  return (
    <AnswerTable
      summary={{
        verdict: answer.verdicts,
        as_of: answer.asOf,
        left_out: answer.leftOut,
        unknown: answer.unknown,
      }}
      exportName={exportName}
      onLoadMore={onLoadMore}
      label="columns of the answer"
      columns={view.ask === 'impact' ? IMPACT_COLUMNS : LINEAGE_COLUMNS}
      rows={rows}
      rowKey={(row) => row.column.key}
      selected={view.pick}
      onSelect={(row) => navigate({ pick: row.column.key === view.pick ? null : row.column.key })}
      onOpen={(row) => openColumn(row.column.key)}
      emptyText={emptyText(answer, view)}
    />
  );
}

function Answer(props: AnswerProps) {
  const { view } = props;
  const column = readColumnKey(view.column ?? '');
  if (column !== null && view.ask === 'droppable') return <ReadersTable column={column} />;
  if (column !== null && view.ask === 'writers') return <WritersTable column={column} />;
  return <LineageTable {...props} />;
}

export default function Lineage() {
  const view = useView((value) => value);
  const query = useLineage(view);
  const { answer, onLoadMore } = useLoadedPages(query, view);
  const graph = useMemo(() => {
    if (answer === null) return EMPTY_GRAPH;
    return view.indirect || view.ask === 'impact' ? answer.graph : withoutIndirect(answer.graph);
  }, [answer, view.indirect, view.ask]);
  const unknownReasons = useMemo(() => reasonsByTable(answer?.unknown ?? []), [answer]);
  if (readColumnKey(view.column ?? '') === null) {
    return (
      <EmptyState title="Invalid link">
        <p>The link does not name a column. Search for one above.</p>
      </EmptyState>
    );
  }
  return (
    <GraphScreen
      toolbar={<LineageToolbar />}
      graph={
        <QueryResult query={query}>
          {() => (
            <GraphPane
              graph={graph}
              subject={`${view.ask === 'impact'} ${view.column} ${view.direction} ${view.depth}`}
              focusColumn={view.column}
              kind="plain"
              unknownReasons={unknownReasons}
              canExpand={view.ask !== 'impact'}
            />
          )}
        </QueryResult>
      }
      answer={answer !== null && <Answer answer={answer} view={view} onLoadMore={onLoadMore} />}
      panel={<DetailPanel graph={graph} defaultColumn={view.column} />}
    />
  );
}
