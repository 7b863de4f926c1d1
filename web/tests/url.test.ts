import { expect, test } from 'vitest';
import { HOME, readView, type View, writeView } from '../src/state/url';

const FULL: View = {
  mode: 'personal',
  column: 'file|/lake/a|<b>&=?#%7C é 🐟',
  tag: 'PII',
  direction: 'up',
  depth: 5,
  indirect: true,
  open: [
    { table: 'file|/lake/a.b.c', side: 'up', count: 16 },
    { table: 'x|y', side: 'down', count: 8 },
  ],
  whole: ['x|y', 'p|q'],
  ask: 'impact',
  asOf: '2026-11-01T10:00:00.000Z',
  from: '2026-10-01T10:00:00.000Z',
  to: '2026-11-01T10:00:00.000Z',
  pick: 'a→b',
  hide: ['clear'],
  job: '["a","b"]',
  sort: '-distance',
  list: false,
  graph: true,
};

test('the home view has an empty query string', () => {
  expect(writeView(HOME)).toBe('');
  expect(readView('')).toEqual(HOME);
});

test('a view survives conversion to a query string', () => {
  expect(readView(writeView(FULL))).toEqual(FULL);
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
])('an invalid value gives the default: %s', (search) => expect(readView(search)).toEqual(HOME));

test('an unknown parameter is ignored', () => {
  expect(readView('?utm=1&column=a')).toEqual({ ...HOME, column: 'a' });
});
