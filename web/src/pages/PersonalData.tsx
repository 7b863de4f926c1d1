/** Personal data: which columns contain the data of a column or tag, in clear, masked, or only indirectly. */
import { type FormEvent, useMemo } from 'react';
import type { Pii, Verdict } from '../api/answers';
import { fetchPersonalData } from '../api/queries';
import { usePagedQuery } from '../api/usePagedQuery';
import { countOf } from '../format/text';
import { GraphPane } from '../graph/GraphPane';
import type { Mark } from '../graph/highlight';
import { Legend } from '../graph/Legend';
import { EMPTY_GRAPH, type LineageGraph, subgraph } from '../graph/lineageGraph';
import { graphFromTraversal } from '../graph/toGraph';
import { reasonsByTable } from '../graph/unknownReasons';
import { DetailPanel } from '../panel/DetailPanel';
import { GraphScreen } from '../shell/GraphScreen';
import { Name } from '../shell/Name';
import { QueryResult } from '../shell/QueryState';
import { columnKey, readColumnKey, shortName } from '../state/names';
import { COLUMN_DEFAULTS, navigate, openColumn, useView } from '../state/view';
import { AnswerTable } from '../table/AnswerTable';
import { PERSONAL_DATA_COLUMNS } from '../table/verdictColumns';

const DEFAULT_TAG = 'PII';
const VERDICTS: readonly Verdict[] = ['clear', 'masked', 'indirect'];

/** Shows the column that is traced, and a form to trace all columns with a tag. */
function SubjectForm({ column, tag }: { column: string | null; tag: string }) {
  const ref = column === null ? null : readColumnKey(column);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const value = new FormData(event.currentTarget).get('tag');
    if (typeof value === 'string' && value.trim())
      navigate({ ...COLUMN_DEFAULTS, column: null, tag: value.trim() });
  };
  return (
    <>
      <span>
        {ref === null ? (
          'All columns tagged '
        ) : (
          <>
            <Name className="mono" text={`${shortName(ref.name)}.${ref.field}`} limit={48} />
            <span className="muted"> · or all columns tagged </span>
          </>
        )}
      </span>
      <form onSubmit={submit} className="tag-form">
        <input key={tag} name="tag" defaultValue={tag} aria-label="Tag" size={8} maxLength={100} />
        <button type="submit">Trace</button>
      </form>
    </>
  );
}

/** The graph without source columns that have no edges. */
function withoutIsolatedColumns(graph: LineageGraph): LineageGraph {
  if (graph.edges.size === 0) return graph;
  const connected = new Set([...graph.edges.values()].flatMap((edge) => [edge.from, edge.to]));
  return subgraph(graph, (column) => connected.has(column));
}

function toGraph(answer: Pii): LineageGraph {
  const distances = new Map(answer.landings.map((landing) => [landing.id, landing.distance ?? 1]));
  const sourceIds = new Set(answer.of.map((json) => json.id));
  const columns = (answer.columns ?? answer.landings)
    .filter((json) => !sourceIds.has(json.id))
    .map((json) => ({ ...json, distance: distances.get(json.id ?? -1) ?? 1 }));
  const details = new Map((answer.columns ?? []).map((json) => [json.id, json]));
  const sources = answer.of.map((json) => ({ ...json, ...details.get(json.id) }));
  const graph = graphFromTraversal({ of: sources, columns, edges: answer.edges ?? [] }, 'down');
  return withoutIsolatedColumns(graph);
}

/** The verdict on each column, and `source` for the columns that are traced. */
function columnMarks(answer: Pii): ReadonlyMap<string, Mark> {
  const marks = new Map<string, Mark>(
    answer.landings.map((landing) => [columnKey(landing), landing.verdict]),
  );
  for (const json of answer.of) marks.set(columnKey(json), 'source');
  return marks;
}

interface LandingsTableProps {
  readonly answer: Pii;
  readonly exportName: string;
  readonly onLoadMore: (() => void) | null;
}

function LandingsTable({ answer, exportName, onLoadMore }: LandingsTableProps) {
  const hide = useView((view) => view.hide);
  const pick = useView((view) => view.pick);
  const rows = useMemo(
    () => answer.landings.filter((landing) => !hide.includes(landing.verdict)),
    [answer, hide],
  );
  return (
    <AnswerTable
      summary={answer}
      exportName={exportName}
      onLoadMore={onLoadMore}
      label="columns with personal data"
      columns={PERSONAL_DATA_COLUMNS}
      rows={rows}
      rowKey={columnKey}
      selected={pick}
      rowClass={(landing) => (landing.violation ? 'violation' : '')}
      onSelect={(landing) => navigate({ pick: columnKey(landing) === pick ? null : columnKey(landing) })}
      onOpen={(landing) => openColumn(columnKey(landing))}
      emptyText={
        hide.length > 0 && answer.landings.length > 0
          ? `${countOf(answer.landings.length, 'column')} hidden by the legend.`
          : 'No downstream columns.'
      }
    />
  );
}

const appendLandings = (loaded: Pii, page: Pii): Pii => ({
  ...loaded,
  landings: [...loaded.landings, ...page.landings],
  columns: [...(loaded.columns ?? []), ...(page.columns ?? [])],
  edges: [...(loaded.edges ?? []), ...(page.edges ?? [])],
});

const countByVerdict = (answer: Pii) =>
  VERDICTS.map((verdict) => [verdict, answer.totals[verdict] ?? 0] as const);

/** The traced columns or tag from the URL, with texts derived from them. */
function useSubject() {
  const column = useView((view) => view.column);
  const tagParameter = useView((view) => view.tag);
  const ref = column === null || tagParameter !== null ? null : readColumnKey(column);
  const tag = tagParameter ?? DEFAULT_TAG;
  return {
    tag,
    column: ref === null ? null : column,
    query: ref === null ? { columns: [], tag } : { columns: [ref], tag: null },
    exportName: ref === null ? `tag-${tag}-landings` : `${shortName(ref.name)}.${ref.field}-landings`,
  };
}

export default function PersonalData() {
  const asOf = useView((view) => view.asOf);
  const hide = useView((view) => view.hide);
  const subject = useSubject();
  const key = JSON.stringify([subject.query, asOf]);
  const { query, onLoadMore } = usePagedQuery(
    key,
    (cursor) => fetchPersonalData(subject.query, { asOf, indirect: true, cursor }),
    appendLandings,
  );
  const answer = query.value;
  const graph = useMemo(() => (answer === null ? EMPTY_GRAPH : toGraph(answer)), [answer]);
  const marks = useMemo(() => (answer === null ? new Map() : columnMarks(answer)), [answer]);
  const shownGraph = useMemo(
    () => (hide.length === 0 ? graph : subgraph(graph, (column) => !hide.includes(marks.get(column) ?? ''))),
    [graph, marks, hide],
  );
  const unknownReasons = useMemo(() => reasonsByTable(answer?.unknown ?? []), [answer]);
  return (
    <GraphScreen
      state={query.state}
      toolbar={<SubjectForm column={subject.column} tag={subject.tag} />}
      graph={
        <QueryResult query={query}>
          {(value) => (
            <GraphPane
              graph={shownGraph}
              subject={key}
              focusColumn={subject.column}
              kind="personal"
              marks={marks}
              unknownReasons={unknownReasons}
              canExpand={false}
              legend={<Legend counts={countByVerdict(value)} />}
            />
          )}
        </QueryResult>
      }
      answer={
        answer !== null && (
          <LandingsTable answer={answer} exportName={subject.exportName} onLoadMore={onLoadMore} />
        )
      }
      panel={<DetailPanel graph={graph} defaultColumn={subject.column} />}
    />
  );
}
