import { expect, test } from 'vitest';
import type { ColumnJson, DatasetJson, Found, Job } from '../src/api/answers';
import { searchGroups } from '../src/search/searchGroups';

const column = (name: string, field: string): ColumnJson => ({ namespace: 'file', name, field });
const table = (name: string): DatasetJson => ({ namespace: 'file', name });
const job = (name: string): Job => ({ namespace: 'shop', name });

function createAnswer(rows: ColumnJson[], tables: DatasetJson[], jobs: Job[], leftOut = 0): Found {
  const totals = { columns: rows.length + leftOut, tables: tables.length, jobs: jobs.length };
  return {
    question: 'find',
    as_of: null,
    verdict: '',
    totals,
    left_out: leftOut,
    cursor: null,
    rows,
    tables,
    jobs,
  };
}

const titles = (text: string, answer: Found) => searchGroups(text, answer).map((group) => group.title);

test('columns are first, and empty groups are left out', () => {
  const answer = createAnswer([column('/lake/gold/orders', 'total')], [table('/lake/gold/totals')], []);
  expect(titles('tot', answer)).toEqual(['Columns', 'Tables']);
});

test('a table or job with exactly this name is before the columns', () => {
  const rows = [column('/lake/gold/daily_revenue', 'day')];
  const answer = createAnswer(rows, [table('/lake/gold/daily_revenue')], [job('daily_revenue')]);
  expect(titles('daily_revenue', answer)).toEqual(['Tables', 'Jobs', 'Columns']);
  expect(titles('Gold.Daily_Revenue', answer)).toEqual(['Tables', 'Columns', 'Jobs']);
});

test('a column with exactly this name stays first', () => {
  const answer = createAnswer([column('/lake/gold/orders', 'orders')], [table('/lake/gold/orders')], []);
  expect(titles('orders', answer)).toEqual(['Columns', 'Tables']);
});

test('long groups of tables and jobs are truncated, with the number of further matches', () => {
  const tables = Array.from({ length: 9 }, (_, index) => table(`/lake/gold/t${index}`));
  const [columns, group] = searchGroups('t', createAnswer([column('/lake/a', 't1')], tables, [], 5));
  expect([columns?.leftOut, group?.results.length, group?.leftOut]).toEqual([5, 6, 3]);
});
