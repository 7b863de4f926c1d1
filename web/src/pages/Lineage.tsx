/** The lineage graph of one column, and the answer to the selected question about it. */
import { useMemo, useState } from 'react';
import type { Impact } from '../api/answers';
import { fetchDataset, fetchImpact, fetchTraversal } from '../api/queries';
import { type QueryState, useQuery } from '../api/useQuery';
import { type ColumnGraph, isDepthLimited, loadColumnGraph, loadNextPages } from '../graph/columnGraph';
import { foldGraph } from '../graph/fold';
import { GraphPane } from '../graph/GraphPane';
import { EMPTY_GRAPH, withoutIndirect } from '../graph/lineageGraph';
import { withTableEdges } from '../graph/tableGraph';
import { graphFromTraversal } from '../graph/toGraph';
import { reasonsByTable } from '../graph/unknownReasons';
import { DetailPanel } from '../panel/DetailPanel';
import { GraphScreen } from '../shell/GraphScreen';
import { EmptyState, QueryResult } from '../shell/QueryState';
import { type ColumnRef, columnKey, jobKey, readColumnKey, shortName, tableOf } from '../state/names';
import type { View } from '../state/url';
import { jobPage, navigate, openColumn, useView } from '../state/view';
import { type AnswerSummary, AnswerTable } from '../table/AnswerTable';
import { IMPACT_COLUMNS } from '../table/impactColumns';
import { impactRows } from '../table/impactRows';
import { LINEAGE_COLUMNS } from '../table/lineageColumns';
import { lineageRows } from '../table/lineageRows';
import { LineageToolbar } from './LineageToolbar';
import { ReadersTable, WritersTable } from './ReadersAndWriters';

const QUERIES = { traversal: fetchTraversal, dataset: fetchDataset };
/** Depth of an impact query. */
const MAX_IMPACT_DEPTH = 50;

interface LineageAnswer extends ColumnGraph {
  /** The answer to the question about impact. */
  readonly impact: Impact | null;
}

const NO_JOBS: Pick<Impact, 'jobs' | 'readers' | 'columns'> = { jobs: [], readers: [], columns: [] };

async function loadImpact(column: ColumnRef, view: View): Promise<LineageAnswer> {
  const answer = await fetchImpact([column], view.change, { asOf: view.asOf, depth: MAX_IMPACT_DEPTH });
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
    isDepthLimited: isDepthLimited(answer),
    cursors: [],
    impact: answer,
  };
}

async function loadLineage(view: View): Promise<LineageAnswer> {
  const column = readColumnKey(view.column ?? '');
  if (column !== null && view.ask === 'impact') return loadImpact(column, view);
  return { ...(await loadColumnGraph(view, QUERIES)), impact: null };
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
  const question = view.ask === 'impact' ? `impact ${view.change}` : 'lineage';
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
  return view.ask === 'impact' ? 'Nothing is affected.' : EMPTY_TEXTS[view.direction];
}

function summaryOf(answer: LineageAnswer, { indirect }: View): AnswerSummary {
  const { verdicts, asOf, leftOut, unknown } = answer;
  const hasConditions = indirect || answer.impact !== null;
  const scope = answer.isDepthLimited ? 'some hops' : hasConditions ? 'everything' : 'values';
  return { verdict: verdicts, as_of: asOf, left_out: leftOut, unknown, scope };
}

/** The file name of an export. */
function exportNameOf({ column: key, ask }: View): string {
  const column = readColumnKey(key ?? '');
  return column === null ? 'lineage' : `${shortName(column.name)}.${column.field}-${ask}`;
}

function ImpactTable({ answer, view, onLoadMore }: AnswerProps) {
  const rows = useMemo(
    () => impactRows(answer.impact ?? NO_JOBS, lineageRows(answer.graph, view.column)),
    [answer, view.column],
  );
  return (
    <AnswerTable
      summary={summaryOf(answer, view)}
      exportName={exportNameOf(view)}
      onLoadMore={onLoadMore}
      label="what the change affects"
      columns={IMPACT_COLUMNS}
      rows={rows}
      rowKey={(row) => row.key}
      selected={view.pick}
      onSelect={({ column }) =>
        column !== null && navigate({ pick: column.key === view.pick ? null : column.key })
      }
      onOpen={({ column, job }) => {
        if (column !== null) openColumn(column.key);
        else if (job !== null) navigate(jobPage(jobKey(job)));
      }}
      emptyText={emptyText(answer, view)}
    />
  );
}

function LineageTable({ answer, view, onLoadMore }: AnswerProps) {
  const rows = useMemo(() => lineageRows(answer.graph, view.column), [answer, view.column]);
  return (
    <AnswerTable
      summary={summaryOf(answer, view)}
      exportName={exportNameOf(view)}
      onLoadMore={onLoadMore}
      label="columns of the answer"
      columns={LINEAGE_COLUMNS}
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
  return view.ask === 'impact' ? <ImpactTable {...props} /> : <LineageTable {...props} />;
}

/** Readers are downstream and may use the column in a condition, so the question draws both. */
const WHAT_READS = { direction: 'down', indirect: true, depth: null } as const;

export default function Lineage() {
  const given = useView((value) => value);
  const view = useMemo(() => (given.ask === 'droppable' ? { ...given, ...WHAT_READS } : given), [given]);
  const query = useLineage(view);
  const { answer, onLoadMore } = useLoadedPages(query, view);
  const graph = useMemo(() => {
    if (answer === null) return EMPTY_GRAPH;
    return view.indirect || view.ask === 'impact' ? answer.graph : withoutIndirect(answer.graph);
  }, [answer, view.indirect, view.ask]);
  const drawnGraph = useMemo(() => {
    const unfolded = new Set(view.pick === null ? view.unfold : [...view.unfold, tableOf(view.pick)]);
    return view.depth === null ? foldGraph(graph, unfolded) : graph;
  }, [graph, view.depth, view.unfold, view.pick]);
  const panelGraph = useMemo(
    () => (view.grain === 'table' ? withTableEdges(graph) : graph),
    [graph, view.grain],
  );
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
      state={query.state}
      toolbar={<LineageToolbar />}
      graph={
        <QueryResult query={query}>
          {() => (
            <GraphPane
              graph={drawnGraph}
              loaded={graph}
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
      panel={<DetailPanel graph={panelGraph} defaultColumn={view.column} />}
    />
  );
}
