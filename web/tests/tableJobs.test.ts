import { expect, test } from 'vitest';
import type { ReadingJob, Run } from '../src/api/answers';
import { visibleCode } from '../src/format/text';
import { runBars } from '../src/pages/runBars';
import { tableJobs } from '../src/table/tableJobs';

const reader = (name: string, live: boolean): ReadingJob => ({
  namespace: 'shop',
  name,
  kind: 'query',
  uses: ['group_by', 'value'],
  columns: 2,
  last_read: '2026-11-01T00:00:00Z',
  live,
});

test('writers are listed before readers, and former readers last', () => {
  const rows = tableJobs({
    writers: [{ namespace: 'shop', name: 'build', owner: 'finance' }],
    readers: [reader('old', false), reader('report', true)],
  });
  expect(rows.map((row) => [row.role, row.job.name, row.owner])).toEqual([
    ['writes', 'build', 'finance'],
    ['reads', 'report', undefined],
    ['no longer reads', 'old', undefined],
  ]);
});

const run = (id: string, state: string, seconds: number | null): Run => ({
  run_id: id,
  state,
  seconds,
  started: '2026-11-01T00:00:00Z',
});

test('bars are relative to the longest run, oldest first, and a run without an end has the lowest', () => {
  const runs = [run('c', 'RUNNING', null), run('b', 'FAIL', 30), run('a', 'COMPLETE', 120)];
  const bars = runBars(runs, Date.parse('2026-11-01T02:00:00Z'));
  expect(bars.map((bar) => [bar.run.run_id, bar.state, bar.heightPercent, bar.label])).toEqual([
    ['a', 'complete', 100, 'complete, 2 min, 2h'],
    ['b', 'fail', 25, 'fail, 30 s, 2h'],
    ['c', 'running', 6, 'running, no end, 2h'],
  ]);
});

test('code keeps its lines, and invisible characters in it are shown', () => {
  expect(visibleCode('select 1\n\tfrom\u202e t')).toBe('select 1\n\tfrom‹202E› t');
});
