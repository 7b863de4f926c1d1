/** The drawing of one column: its walk each way, then every card that someone expanded, in order. */
import type { Dataset, Unknown, Walk } from '../api/answers';
import type { Asked } from '../api/queries';
import { countOf } from '../format/text';
import { type ColumnRef, columnKey, readColumnKey, type TableRef, tableKey, tableOf } from '../state/names';
import type { Expansion, Side, View } from '../state/url';
import { EMPTY, join, type Picture } from './lineageGraph';
import { fromWalk, toColumn } from './toGraph';

/** Neighbours that one click brings. */
export const STEP = 8;

export interface Ask {
  readonly walk: (side: Side, columns: readonly ColumnRef[], asked: Asked) => Promise<Walk>;
  readonly dataset: (table: TableRef, asOf: string | null) => Promise<Dataset>;
}

export interface Explored {
  readonly picture: Picture;
  readonly verdicts: readonly string[];
  readonly asOf: string | null;
  readonly unknown: readonly Unknown[];
  readonly leftOut: number;
  /** Where each walk was cut; empty when all of it is here. */
  readonly cursors: readonly Cursor[];
}

export interface Cursor {
  readonly side: Side;
  readonly at: string;
}

export type ExploreView = Pick<View, 'column' | 'direction' | 'depth' | 'indirect' | 'open' | 'asOf'>;

/** The part of a picture that reaches at most `count` other tables, the first by distance and name. */
export function firstTables(picture: Picture, start: string, count: number): Picture {
  const near = new Map<string, number>();
  for (const column of picture.columns.values()) {
    const key = tableKey(column);
    near.set(key, Math.min(near.get(key) ?? Number.POSITIVE_INFINITY, Math.abs(column.distance)));
  }
  near.delete(start);
  const sorted = [...near].sort((a, b) => a[1] - b[1] || a[0].localeCompare(b[0]));
  const kept = new Set([start, ...sorted.slice(0, count).map(([key]) => key)]);
  const columns = new Map([...picture.columns].filter(([key]) => kept.has(tableOf(key))));
  const edges = new Map(
    [...picture.edges].filter(([, edge]) => columns.has(edge.from) && columns.has(edge.to)),
  );
  return { columns, edges };
}

const sidesOf = (view: ExploreView): readonly Side[] =>
  view.direction === 'both' ? ['up', 'down'] : [view.direction];

const countAt = (open: readonly Expansion[], table: string, side: Side) =>
  open.find((each) => each.table === table && each.side === side)?.count ?? STEP;

/** Distances as seen from the column in focus, when a walk started further out; what is drawn keeps its own. */
function shifted(picture: Picture, drawn: Picture, by: number): Picture {
  const columns = new Map(
    [...picture.columns].map(([key, column]) => [
      key,
      { ...column, distance: drawn.columns.get(key)?.distance ?? column.distance + by },
    ]),
  );
  return { columns, edges: picture.edges };
}

async function expand(drawn: Picture, { table, side, count }: Expansion, view: ExploreView, ask: Ask) {
  const starts = [...drawn.columns.values()].filter(
    (column) => tableOf(column.key) === table && column.field !== '*',
  );
  if (starts.length === 0) return { picture: drawn, unknown: [] };
  const walk = await ask.walk(side, starts, { asOf: view.asOf, indirect: view.indirect, depth: 1 });
  const nearest = starts.reduce((a, b) => (Math.abs(a.distance) <= Math.abs(b.distance) ? a : b));
  const found = shifted(firstTables(fromWalk(walk, side), table, count), drawn, nearest.distance);
  return { picture: join(drawn, found), unknown: walk.unknown ?? [] };
}

/** What expanded cards show beyond the walks, which the walks' verdicts do not count; nothing where that is none. */
function expandedWords(picture: Picture, walked: Picture): string[] {
  const more = [...picture.columns.values()].filter(
    ({ key, field }) => field !== '*' && !walked.columns.has(key),
  );
  if (more.length === 0) return [];
  const tables = new Set(more.map(tableKey)).size;
  return [`${countOf(more.length, 'more column')} in ${countOf(tables, 'dataset')} on expanded cards`];
}

/** Each thing that is not known once, however many walks told it. */
const once = (unknown: readonly Unknown[]): Unknown[] => [
  ...new Map(unknown.map((each) => [`${each.what} ${each.why}`, each])).values(),
];

/** The picture with type, tags and neighbours of the asked column, which a walk does not tell. */
async function withFocus(
  picture: Picture,
  focus: ColumnRef,
  asOf: string | null,
  ask: Ask,
): Promise<Picture> {
  const table = await ask.dataset(focus, asOf).catch(() => null);
  const told = table?.columns.find((column) => column.field === focus.field);
  const key = columnKey(focus);
  const known = told === undefined ? picture.columns.get(key) : { ...toColumn(told, null), direct: true };
  return known === undefined ? picture : { ...picture, columns: new Map(picture.columns).set(key, known) };
}

const toCursor = (walk: Walk, side: Side): Cursor[] =>
  walk.cursor === null ? [] : [{ side, at: walk.cursor }];

/** The same answer with the next page of each walk that was cut. */
export async function nextPages(before: Explored, view: ExploreView, ask: Ask): Promise<Explored> {
  const focus = readColumnKey(view.column ?? '');
  if (focus === null) return before;
  let { picture } = before;
  const asked: Asked = { asOf: view.asOf, indirect: view.indirect, depth: view.depth };
  const pages = before.cursors.map(async ({ side, at }) => ({
    side,
    walk: await ask.walk(side, [focus], { ...asked, cursor: at }),
  }));
  const walks = await Promise.all(pages);
  for (const { side, walk } of walks) picture = joinPage(picture, walk, side);
  return {
    ...before,
    picture,
    leftOut: walks.reduce((sum, { walk }) => sum + walk.left_out, 0),
    cursors: walks.flatMap(({ walk, side }) => toCursor(walk, side)),
  };
}

/** A page's edges lead toward columns of earlier pages, which it does not repeat: their ids are kept with them. */
function joinPage(picture: Picture, walk: Walk, side: Side): Picture {
  const known = [...picture.columns.values()].flatMap((column) => (column.id === null ? [] : [column]));
  const earlier = known.map(({ id, namespace, name, field, distance }) => ({
    id: id as number,
    namespace,
    name,
    field,
    distance: Math.abs(distance),
  }));
  return join(picture, fromWalk({ ...walk, columns: [...earlier, ...walk.columns] }, side));
}

/** Everything the view asks to see; throws what `ask` throws. */
export async function explore(view: ExploreView, ask: Ask): Promise<Explored> {
  const focus = view.column === null ? null : readColumnKey(view.column);
  if (focus === null)
    return { picture: EMPTY, verdicts: [], asOf: null, unknown: [], leftOut: 0, cursors: [] };
  const asked: Asked = { asOf: view.asOf, indirect: view.indirect, depth: view.depth };
  const sides = sidesOf(view);
  const walks = await Promise.all(sides.map((side) => ask.walk(side, [focus], asked)));
  const start = tableKey(focus);
  let picture = EMPTY;
  walks.forEach((walk, index) => {
    const side = sides[index] as Side;
    const whole = fromWalk(walk, side);
    picture = join(
      picture,
      view.depth > 1 ? whole : firstTables(whole, start, countAt(view.open, start, side)),
    );
  });
  picture = await withFocus(picture, focus, view.asOf, ask);
  const walked = picture;
  const unknown = walks.flatMap((walk) => walk.unknown ?? []);
  for (const expansion of view.open) {
    if (expansion.table !== start || !sides.includes(expansion.side)) {
      const expanded = await expand(picture, expansion, view, ask);
      picture = expanded.picture;
      unknown.push(...expanded.unknown);
    }
  }
  return {
    picture,
    verdicts: [...walks.map((walk) => walk.verdict), ...expandedWords(picture, walked)],
    asOf: walks[0]?.as_of ?? null,
    unknown: once(unknown),
    leftOut: walks.reduce((sum, walk) => sum + walk.left_out, 0),
    cursors: walks.flatMap((walk, index) => toCursor(walk, sides[index] as Side)),
  };
}

/** The expansions after a click on a chip: eight more at that side of that card. */
export function opened(open: readonly Expansion[], table: string, side: Side, base: number): Expansion[] {
  const old = open.find((each) => each.table === table && each.side === side);
  const rest = open.filter((each) => each !== old);
  return [...rest, { table, side, count: (old?.count ?? base) + STEP }];
}
