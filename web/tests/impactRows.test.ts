import { expect, test } from 'vitest';
import type { Impact } from '../src/api/answers';
import { impactRows } from '../src/table/impactRows';
import { lineageRows } from '../src/table/lineageRows';
import { key, sampleGraph } from './sampleGraphs';

const job = (name: string, breaks: boolean, owner: string | null = null): Impact['jobs'][number] => ({
  namespace: 'shop',
  name,
  owner,
  distance: breaks ? 1 : 2,
  kinds: ['value'],
  breaks,
});

test('jobs that break and live readers come before everything else', () => {
  const graph = sampleGraph(['a.x -> b.y'], { 'b.y': { distance: 1 } });
  const answer = {
    jobs: [job('later', false), job('build', true, 'finance')],
    readers: [
      { job: { namespace: 'shop', name: 'dashboard' }, owner: 'sales', use: 'group_by', live: true },
      { job: { namespace: 'shop', name: 'former' }, live: false },
    ],
    columns: [{ namespace: 'ns', name: 'b', field: 'y', kinds: ['value', 'join'] }],
  };
  const rows = impactRows(answer, lineageRows(graph, key('a.x')));
  expect(rows.map((row) => [row.effect, row.job?.name ?? row.column?.field, row.owner, row.kinds])).toEqual([
    ['breaks', 'build', 'finance', ['value']],
    ['live reader', 'dashboard', 'sales', ['group_by']],
    ['affected', 'later', null, ['value']],
    ['affected', 'y', null, ['value', 'join']],
  ]);
});
