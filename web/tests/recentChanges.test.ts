import { expect, test } from 'vitest';
import type { RecentChange } from '../src/api/answers';
import { changesOfKnownEdges, isNewLake } from '../src/pages/recentChanges';

const column = { namespace: 'file', name: '/lake/a', field: 'x' };
const change = (when: string, kind: 'added' | 'removed'): RecentChange => ({
  when,
  change: kind,
  source: column,
  target: column,
});

test('a lake is new until edges were written a second time', () => {
  expect(isNewLake({ health: { tables: { 'gold/edges': 0 } } })).toBe(true);
  expect(isNewLake({ health: { tables: { 'gold/edges': 3 } } })).toBe(false);
  expect(isNewLake({ health: {} })).toBe(false);
});

test('additions of a new lake are listed only if they replace a removed edge', () => {
  const changes = [
    change('2026-01-02', 'added'),
    change('2026-01-02', 'removed'),
    change('2026-01-01', 'added'),
  ];
  expect(changesOfKnownEdges(changes).map((each) => each.when)).toEqual(['2026-01-02', '2026-01-02']);
});
