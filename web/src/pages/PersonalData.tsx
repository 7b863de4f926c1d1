/** Personal data: where a column, or every column with a tag, ends up; in clear, masked, or only indirectly. */
import { type FormEvent, useMemo } from 'react';
import type { Landing, Pii, Verdict } from '../api/answers';
import { pii } from '../api/queries';
import { usePages } from '../api/usePagedQuery';
import { countOf } from '../format/text';
import { GraphPane } from '../graph/GraphPane';
import type { Mark } from '../graph/highlight';
import { Legend } from '../graph/Legend';
import { EMPTY, type Picture } from '../graph/lineageGraph';
import { fromWalk } from '../graph/toGraph';
import { unknownTables } from '../graph/unknownReasons';
import { Panel } from '../panel/DetailPanel';
import { Screen } from '../shell/GraphScreen';
import { Name } from '../shell/Name';
import { Await } from '../shell/QueryState';
import { columnKey, readColumnKey, shortName } from '../state/names';
import { FRESH, focus, go, useView } from '../state/view';
import { Listed } from '../table/AnswerTable';
import { LANDINGS } from '../table/verdictColumns';

const USUAL_TAG = 'PII';
const VERDICTS: readonly Verdict[] = ['clear', 'masked', 'indirect'];

function Subject({ column, tag }: { column: string | null; tag: string }) {
  const ref = column === null ? null : readColumnKey(column);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const value = new FormData(event.currentTarget).get('tag');
    if (typeof value === 'string' && value.trim()) go({ ...FRESH, column: null, tag: value.trim() });
  };
  return (
    <>
      <span>
        {ref === null ? (
          'Every column tagged '
        ) : (
          <>
            <span className="muted">follows </span>
            <Name className="mono" text={`${shortName(ref.name)}.${ref.field}`} limit={48} />
            <span className="muted"> · or every column tagged </span>
          </>
        )}
      </span>
      <form onSubmit={submit} className="tag-form">
        <input key={tag} name="tag" defaultValue={tag} aria-label="tag" size={8} maxLength={100} />
        <button type="submit">Follow</button>
      </form>
    </>
  );
}

/** The picture without what the legend hides: a hidden verdict takes its columns with it. */
function shownPart(picture: Picture, marks: ReadonlyMap<string, Mark>, hide: readonly string[]): Picture {
  if (hide.length === 0) return picture;
  const columns = new Map([...picture.columns].filter(([key]) => !hide.includes(marks.get(key) ?? '')));
  const edges = new Map(
    [...picture.edges].filter(([, edge]) => columns.has(edge.from) && columns.has(edge.to)),
  );
  return { columns, edges };
}

/** A source that lands nowhere says nothing in a drawing of where things land; the list of tags has it. */
function landed(picture: Picture): Picture {
  if (picture.edges.size === 0) return picture;
  const ends = new Set([...picture.edges.values()].flatMap((edge) => [edge.from, edge.to]));
  return { ...picture, columns: new Map([...picture.columns].filter(([key]) => ends.has(key))) };
}

function draw(answer: Pii | null): { picture: Picture; marks: ReadonlyMap<string, Mark> } {
  if (answer === null) return { picture: EMPTY, marks: new Map() };
  const distances = new Map(answer.landings.map((landing) => [landing.id, landing.distance ?? 1]));
  const of = new Set(answer.of.map((json) => json.id));
  const columns = (answer.columns ?? answer.landings)
    .filter((json) => !of.has(json.id))
    .map((json) => ({ ...json, distance: distances.get(json.id ?? -1) ?? 1 }));
  const told = new Map((answer.columns ?? []).map((json) => [json.id, json]));
  const sources = answer.of.map((json) => ({ ...json, ...told.get(json.id) }));
  const picture = landed(fromWalk({ of: sources, columns, edges: answer.edges ?? [] }, 'down'));
  const marks = new Map<string, Mark>(
    answer.landings.map((landing) => [columnKey(landing), landing.verdict]),
  );
  for (const json of answer.of) marks.set(columnKey(json), 'source');
  return { picture, marks };
}

function Landings({
  answer,
  subject,
  onMore,
}: {
  answer: Pii;
  subject: string;
  onMore: (() => void) | null;
}) {
  const hide = useView((view) => view.hide);
  const pick = useView((view) => view.pick);
  const rows = useMemo(
    () => answer.landings.filter((landing) => !hide.includes(landing.verdict)),
    [answer, hide],
  );
  const open = (landing: Landing) => focus(columnKey(landing));
  return (
    <Listed
      said={answer}
      subject={subject}
      onMore={onMore}
      label="columns where the personal data lands"
      heads={LANDINGS}
      rows={rows}
      keyOf={(landing) => columnKey(landing)}
      picked={pick}
      classOf={(landing) => (landing.violation ? 'violation' : '')}
      onPick={(landing) => go({ pick: columnKey(landing) === pick ? null : columnKey(landing) })}
      onOpen={open}
      empty={
        hide.length > 0 && answer.landings.length > 0
          ? `${countOf(answer.landings.length, 'column')} hidden by the legend.`
          : 'It lands nowhere else.'
      }
    />
  );
}

/** Two pages of landings with the columns and edges on their paths. */
const joinLandings = (first: Pii, second: Pii): Pii => ({
  ...first,
  landings: [...first.landings, ...second.landings],
  columns: [...(first.columns ?? []), ...(second.columns ?? [])],
  edges: [...(first.edges ?? []), ...(second.edges ?? [])],
});

const counts = (answer: Pii) => VERDICTS.map((verdict) => [verdict, answer.totals[verdict] ?? 0] as const);

export default function Personal() {
  const view = useView((value) => value);
  const { column, hide, asOf } = view;
  const tag = view.tag ?? USUAL_TAG;
  const ref = column === null || view.tag !== null ? null : readColumnKey(column);
  const key = JSON.stringify([ref, ref === null ? tag : null, asOf]);
  const asked = { asOf, indirect: true };
  const { waiting, onMore } = usePages(
    key,
    (cursor) =>
      pii({ columns: ref === null ? [] : [ref], tag: ref === null ? tag : null }, { ...asked, cursor }),
    joinLandings,
  );
  const { picture, marks } = useMemo(() => draw(waiting.value), [waiting.value]);
  const shown = useMemo(() => shownPart(picture, marks, hide), [picture, marks, hide]);
  const unknown = useMemo(() => unknownTables(waiting.value?.unknown ?? []), [waiting.value]);
  const focusColumn = ref === null ? null : column;
  const subject = ref === null ? `tag-${tag}-landings` : `${shortName(ref.name)}.${ref.field}-landings`;
  return (
    <Screen
      tools={<Subject column={ref === null ? null : column} tag={tag} />}
      graph={
        <Await waiting={waiting}>
          {(answer) => (
            <GraphPane
              picture={shown}
              subject={key}
              focusColumn={focusColumn}
              kind="personal"
              marks={marks}
              unknown={unknown}
              canExpand={false}
              legend={<Legend counts={counts(answer)} />}
            />
          )}
        </Await>
      }
      below={waiting.value !== null && <Landings answer={waiting.value} subject={subject} onMore={onMore} />}
      panel={<Panel picture={picture} fallback={focusColumn} />}
    />
  );
}
