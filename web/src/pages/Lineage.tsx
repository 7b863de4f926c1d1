/** The graph of one column, with the list that answers the question asked about it. */
import { useMemo, useState } from 'react';
import { dataset, impact, walk } from '../api/queries';
import type { Waiting } from '../api/useQuery';
import { useAnswer } from '../api/useQuery';
import { type Explored, explore, nextPages } from '../graph/columnGraph';
import { GraphPane } from '../graph/GraphPane';
import { directOnly, EMPTY } from '../graph/lineageGraph';
import { fromWalk } from '../graph/toGraph';
import { unknownTables } from '../graph/unknownReasons';
import { Panel } from '../panel/DetailPanel';
import { Screen } from '../shell/GraphScreen';
import { Await, Empty } from '../shell/QueryState';
import { columnKey, readColumnKey, shortName } from '../state/names';
import type { View } from '../state/url';
import { focus, go, useView } from '../state/view';
import { Listed } from '../table/AnswerTable';
import { IMPACT, LINEAGE } from '../table/lineageColumns';
import { lineageRows } from '../table/lineageRows';
import { LineageTools } from './LineageToolbar';
import { DroppableList, WritersList } from './ReadersAndWriters';

const ASK = { walk, dataset };
const WHOLE = 50;

interface Answered extends Explored {
  readonly kinds: ReadonlyMap<string, readonly string[]>;
}

const NO_KINDS: ReadonlyMap<string, readonly string[]> = new Map();

async function ask(view: View): Promise<Answered> {
  const ref = view.column === null ? null : readColumnKey(view.column);
  if (ref === null || view.ask !== 'impact') return { ...(await explore(view, ASK)), kinds: NO_KINDS };
  const answer = await impact([ref], { asOf: view.asOf, depth: WHOLE });
  const near = await explore({ ...view, direction: 'down', depth: 1, open: [] }, ASK);
  const told = near.picture.columns.get(view.column ?? '');
  const picture = fromWalk(answer, 'down');
  const columns = told ? new Map(picture.columns).set(told.key, told) : picture.columns;
  const kinds = answer.columns.map((json) => [columnKey(json), json.kinds ?? []] as const);
  return {
    picture: { columns, edges: picture.edges },
    verdicts: [answer.verdict],
    asOf: answer.as_of,
    unknown: answer.unknown ?? [],
    leftOut: answer.left_out,
    cursors: [],
    kinds: new Map(kinds),
  };
}

/** The answer, and what was loaded on top of it page by page. */
function usePages(waiting: Waiting<Answered>, view: View) {
  const [loaded, setLoaded] = useState<{ of: Answered; now: Answered } | null>(null);
  const first = waiting.value;
  const now = first !== null && loaded?.of === first ? loaded.now : first;
  const more = async () => {
    if (first === null || now === null) return;
    setLoaded({ of: first, now: { ...now, ...(await nextPages(now, view, ASK)) } });
  };
  return { answer: now, onMore: now !== null && now.cursors.length > 0 ? () => void more() : null };
}

function useLineage(): { view: View; waiting: Waiting<Answered> } {
  const view = useView((value) => value);
  const { column, direction, depth, indirect, open, asOf } = view;
  const question = view.ask === 'impact' ? 'impact' : 'lineage';
  const key = JSON.stringify([question, column, direction, depth, indirect, open, asOf]);
  return { view, waiting: useAnswer(key, () => ask(view)) };
}

interface BelowProps {
  readonly answer: Answered;
  readonly view: View;
  readonly onMore: (() => void) | null;
}

function AnswerList({ answer, view, onMore }: BelowProps) {
  const rows = useMemo(
    () =>
      lineageRows(answer.picture, view.column).map((row) => ({
        ...row,
        kinds: answer.kinds.get(row.column.key) ?? [],
      })),
    [answer, view.column],
  );
  const heads = view.ask === 'impact' ? IMPACT : LINEAGE;
  const name = readColumnKey(view.column ?? '');
  const subject = name === null ? 'lineage' : `${shortName(name.name)}.${name.field}-${view.ask}`;
  return (
    <Listed
      said={{
        verdict: answer.verdicts,
        as_of: answer.asOf,
        left_out: answer.leftOut,
        unknown: answer.unknown,
      }}
      subject={subject}
      onMore={onMore}
      label="columns of the answer"
      heads={heads}
      rows={rows}
      keyOf={(row) => row.column.key}
      picked={view.pick}
      onPick={(row) => go({ pick: row.column.key === view.pick ? null : row.column.key })}
      onOpen={(row) => focus(row.column.key)}
      empty={
        answer.unknown.length > 0
          ? 'Not known: lineage is missing here. Coverage says where.'
          : 'Nothing here: no column is connected to it in this direction.'
      }
    />
  );
}

function BelowGraph({ answer, view, onMore }: BelowProps) {
  const column = readColumnKey(view.column ?? '');
  if (column !== null && view.ask === 'droppable') return <DroppableList column={column} />;
  if (column !== null && view.ask === 'writers') return <WritersList column={column} />;
  return <AnswerList answer={answer} view={view} onMore={onMore} />;
}

export default function Lineage() {
  const { view, waiting } = useLineage();
  const { answer, onMore } = usePages(waiting, view);
  const picture = useMemo(() => {
    if (answer === null) return EMPTY;
    return view.indirect || view.ask === 'impact' ? answer.picture : directOnly(answer.picture);
  }, [answer, view.indirect, view.ask]);
  const unknown = useMemo(() => unknownTables(answer?.unknown ?? []), [answer]);
  if (readColumnKey(view.column ?? '') === null) {
    return (
      <Empty title="This link names no column">
        <p>Search for a column above.</p>
      </Empty>
    );
  }
  return (
    <Screen
      tools={<LineageTools />}
      graph={
        <Await waiting={waiting}>
          {() => (
            <GraphPane
              picture={picture}
              subject={`${view.ask === 'impact'} ${view.column} ${view.direction} ${view.depth}`}
              focusColumn={view.column}
              kind="plain"
              unknown={unknown}
              canExpand={view.ask !== 'impact'}
            />
          )}
        </Await>
      }
      below={answer !== null && <BelowGraph answer={answer} view={view} onMore={onMore} />}
      panel={<Panel picture={picture} fallback={view.column} />}
    />
  );
}
