import { expect, test } from 'vitest';
import { HOME, pagePath, readView, type View, writeView } from '../src/state/url';

const readUrl = (url: string) => {
  const [path = '', search = ''] = url.split('?');
  return readView(path, search);
};

const FULL: View = {
  mode: 'personal',
  column: 'file|/lake/a|<b>&=?#%7C é 🐟',
  tag: 'PII',
  direction: 'up',
  depth: 5,
  indirect: true,
  grain: 'table',
  open: [
    { table: 'file|/lake/a.b.c', side: 'up', count: 16 },
    { table: 'x|y', side: 'down', count: 8 },
  ],
  whole: ['x|y', 'p|q'],
  unfold: ['x|z'],
  ask: 'impact',
  change: 'type',
  asOf: '2026-11-01T10:00:00.000Z',
  from: '2026-10-01T10:00:00.000Z',
  to: '2026-11-01T10:00:00.000Z',
  pick: 'a→b',
  hide: ['clear'],
  job: '["a","b"]',
  table: 'x|y',
  tab: 'readers',
  run: '019a',
  sort: '-distance',
  list: false,
  panel: false,
  graph: true,
};

test('the home view has an empty URL', () => {
  expect(writeView(HOME)).toBe('');
  expect(readUrl('')).toEqual(HOME);
});

test('a view survives conversion to a URL', () => {
  expect(readUrl(writeView(FULL))).toEqual(FULL);
});

test.each([
  ['column', { column: 'a|b|c' }],
  ['tables', { mode: 'tables' }],
  ['table', { mode: 'tables', table: 'a|b' }],
  ['jobs', { mode: 'runs' }],
  ['job', { mode: 'runs', job: '["a","b"]' }],
  ['personal-data', { mode: 'personal' }],
  ['changes', { mode: 'changes' }],
  ['coverage', { mode: 'coverage' }],
  ['quarantine', { mode: 'quarantine' }],
] as const)('each page has its own path: %s', (path, change) => {
  const view = { ...HOME, ...change };
  expect(pagePath(view)).toBe(path);
  expect(readUrl(writeView(view))).toEqual(view);
});

test.each(['nope', 'unknown/path', 'tables/x'])(
  'an unknown path is the page of missing paths: %s',
  (path) => {
    expect(readView(path, '').mode).toBe('missing');
  },
);

test('a link from before pages had paths opens the same page', () => {
  expect(readUrl('?mode=runs&job=x')).toEqual({ ...HOME, mode: 'runs', job: 'x' });
});

test('the test view differs from home in every field', () => {
  for (const name of Object.keys(HOME) as (keyof View)[]) expect(FULL[name]).not.toEqual(HOME[name]);
});

test.each([
  '?mode=nope',
  '?depth=0',
  '?depth=99',
  '?depth=x',
  '?asOf=yesterday',
  '?open=sideways.1.t',
  '?indirect=maybe',
])('an invalid value gives the default: %s', (search) => expect(readUrl(search)).toEqual(HOME));

test('an unknown parameter is ignored', () => {
  expect(readUrl('?utm=1&column=a')).toEqual({ ...HOME, column: 'a' });
});
