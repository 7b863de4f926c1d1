import { expect, test } from 'vitest';
import { stepFrom } from '../src/graph/arrowKeys';
import { withinBudget } from '../src/graph/budget';
import { HEAD_HEIGHT, ROW_HEIGHT, toCards } from '../src/graph/cards';
import { anchorsOf, linksOf, toLines } from '../src/graph/edgePaths';
import { markOf, PLAIN } from '../src/graph/highlight';
import { layOut } from '../src/graph/layout';
import { directOnly, join } from '../src/graph/lineageGraph';
import { pathThrough } from '../src/graph/path';
import { fromDiff, fromWalk } from '../src/graph/toGraph';
import { key, picture } from './sampleGraphs';

const STORY = picture(['a.x -> b.x', 'a.y -> b.y', 'b.x -> c.x', 'b.y -> c.y', 'b.z ~> c.x']);

const laidOut = () => {
  const cards = toCards(STORY);
  const boxes = cards.map((card) => ({ id: card.key, height: card.height }));
  return { cards, layout: layOut(boxes, linksOf(STORY)), edges: [...STORY.edges.values()] };
};

test('a path holds all that leads to a column and all it leads to, and nothing else', () => {
  const path = pathThrough(STORY, key('b.x'));
  expect([...(path?.columns ?? [])].sort()).toEqual(['a.x', 'b.x', 'c.x'].map(key).sort());
  expect(path?.edges.size).toBe(2);
});

test('a path through a line has its two sides only', () => {
  const wide = picture(['a.x -> b.x', 'a.x -> b.y', 'b.x -> c.x', 'b.y -> c.y']);
  const edge = [...wide.edges.values()].find((each) => each.to === key('b.y'));
  const path = pathThrough(wide, edge?.key ?? '');
  expect([...(path?.columns ?? [])].sort()).toEqual(['a.x', 'b.y', 'c.y'].map(key).sort());
});

test('a path in a cycle ends', () => {
  expect(pathThrough(picture(['a.x -> b.x', 'b.x -> a.x']), key('a.x'))?.columns.size).toBe(2);
});

test('a pick that is not drawn is no path', () => expect(pathThrough(STORY, 'nope')).toBeNull());

test('cards count what is hidden on each side before the click', () => {
  const known = { 'b.x': { up: 3, down: 1 }, 'a.x': { up: 0, down: 5 } };
  const cards = toCards(picture(['a.x -> b.x'], known));
  const card = (name: string) => cards.find((each) => each.name === name);
  expect([card('b')?.up, card('b')?.down]).toEqual([2, 1]);
  expect([card('a')?.up, card('a')?.down]).toEqual([0, 4]);
});

test('a card tells how many columns it does not show, and shows them when opened', () => {
  const all = [...picture(['a.x', 'a.p', 'a.q']).columns.values()];
  const options = {
    known: new Map([['ns|a', all]]),
    whole: new Set<string>(),
    filters: new Map(),
    unknown: new Map(),
  };
  const [shut] = toCards(picture(['a.x -> b.x']), options);
  expect([shut?.more, shut?.rows.length]).toEqual([2, 1]);
  const [open] = toCards(picture(['a.x -> b.x']), { ...options, whole: new Set(['ns|a']) });
  expect(open?.rows.map((row) => [row.field, row.onPath])).toEqual([
    ['x', true],
    ['p', false],
    ['q', false],
  ]);
});

test('the filter of a large card keeps what fits', () => {
  const fields = Array.from({ length: 40 }, (_, index) => `a.c${index}`);
  const all = [...picture(fields).columns.values()];
  const options = { known: new Map([['ns|a', all]]), whole: new Set(['ns|a']), unknown: new Map() };
  const card = (text: string) =>
    toCards(picture(['a.c0']), { ...options, filters: new Map([['ns|a', text]]) })[0];
  expect([card('')?.filtered, card('')?.rows.length, card('')?.cut]).toEqual([true, 25, 15]);
  expect(card('C39')?.rows.map((row) => row.field)).toEqual(['c39']);
});

test('beyond the budget the nearest tables stay and the rest is grouped by distance', () => {
  const at = { 't0.x': 0, 't1.x': 1, 't2.x': 2, 't3.x': 2, 't4.x': 3, 't5.x': 3 };
  const far = Object.fromEntries(Object.entries(at).map(([name, distance]) => [name, { distance }]));
  const lines = [
    't0.x -> t1.x',
    't1.x -> t2.x',
    't1.x -> t3.x',
    't2.x -> t4.x',
    't3.x -> t5.x',
    't4.x -> t5.x',
  ];
  const { picture: drawn, groupedTables, leftEdges } = withinBudget(picture(lines, far), 3, 100);
  const names = (text: string) => drawn.columns.get(text)?.table ?? '?';
  expect([...drawn.columns.keys()].map(names)).toEqual([
    't0',
    't1',
    't2',
    '1 further table',
    '2 further tables',
  ]);
  expect([groupedTables, leftEdges]).toEqual([3, 0]);
  const ends = [...drawn.edges.values()].map((edge) => `${names(edge.from)} > ${names(edge.to)}`);
  expect(ends).toEqual([
    't0 > t1',
    't1 > t2',
    't1 > 1 further table',
    't2 > 2 further tables',
    '1 further table > 2 further tables',
  ]);
});

test('too many lines are cut, direct ones last', () => {
  const { picture: drawn, leftEdges } = withinBudget(
    picture(['a.x ~> b.x', 'a.x -> b.x', 'a.y -> b.y']),
    300,
    2,
  );
  expect([...drawn.edges.values()].map((edge) => edge.direct)).toEqual([true, true]);
  expect(leftEdges).toBe(1);
});

test('a direct line meets its rows; an indirect one ends at the head of the card', () => {
  const { cards, layout } = laidOut();
  const lines = toLines(STORY, anchorsOf(cards, layout), layout);
  const end = (text: string) =>
    Number(
      lines
        .find((line) => line.edge.key === text)
        ?.path.split(' ')
        .at(-1),
    );
  const top = layout.places.get('ns|c')?.y ?? 0;
  expect(end(`${key('b.x')}→${key('c.x')}`)).toBe(top + HEAD_HEIGHT + ROW_HEIGHT / 2);
  expect(end(`${key('b.y')}→${key('c.y')}`)).toBe(top + HEAD_HEIGHT + ROW_HEIGHT * 1.5);
  expect(end(`${key('b.z')}⇢${key('c.x')}`)).toBe(top + HEAD_HEIGHT / 2);
});

test('without indirect lines the columns that only they reach go too', () => {
  const marked = picture(['b.x -> c.x', 'b.z ~> c.x'], { 'b.z': { direct: false } });
  expect([...directOnly(marked).columns.keys()]).toEqual(['b.x', 'c.x'].map(key));
});

test('two facts make one line, masked only when both mask', () => {
  const clear = picture(['a.x -> b.x']);
  const [fact] = [...clear.edges.values()].flatMap((edge) => edge.facts);
  const [hashed] = [...picture(['a.x -> b.x #']).edges.values()];
  const masked = { ...clear, edges: new Map(hashed ? [[hashed.key, hashed]] : []) };
  const [edge] = [...join(masked, clear).edges.values()];
  expect([edge?.facts.length, edge?.masking, fact?.masking]).toEqual([2, false, false]);
});

const json = (id: number, name: string, distance: number) => ({
  id,
  namespace: 'ns',
  name,
  field: 'x',
  distance,
});

test('a walk becomes a picture with upstream to the left', () => {
  const direct = { type: 'DIRECT', subtype: 'IDENTITY' } as const;
  const edges = [
    { from: 2, to: 1, ...direct },
    { from: 9, to: 1, ...direct },
  ];
  const drawn = fromWalk({ of: [json(1, 'me', 0)], columns: [json(2, 'source', 1)], edges }, 'up');
  expect([...drawn.columns.values()].map(({ name, distance }) => [name, distance])).toEqual([
    ['source', -1],
    ['me', 0],
  ]);
  expect([...drawn.edges.keys()]).toEqual([`${key('source.x')}→${key('me.x')}`]);
});

test('a comparison draws what came and what went', () => {
  const [source, target] = [json(1, 'a', 0), json(2, 'b', 0)];
  const drawn = fromDiff({
    added: [{ kind: 'edge', source, target }],
    removed: [{ kind: 'column' }],
    changed: [],
  });
  const [edge] = [...drawn.edges.values()];
  expect(edge?.change).toBe('added');
  expect(edge && markOf(edge, { ...PLAIN, kind: 'changes' })).toBe('added');
});

test('a line that masks is marked masked whatever lands behind it', () => {
  const [edge] = [...picture(['a.x -> b.x #']).edges.values()];
  const rows = new Map([[key('b.x'), 'clear' as const]]);
  expect(edge && markOf(edge, { ...PLAIN, kind: 'personal', rows })).toBe('masked');
});

test('arrows lead along rows, to the next card, and along lines', () => {
  const drawn = laidOut();
  expect(stepFrom(drawn, key('b.x'), 'ArrowDown')).toBe(key('b.y'));
  expect(stepFrom(drawn, key('b.x'), 'ArrowUp')).toBeNull();
  expect(stepFrom(drawn, key('b.x'), 'ArrowRight')).toBe(key('c.x'));
  expect(stepFrom(drawn, key('b.y'), 'ArrowLeft')).toBe(key('a.y'));
});
