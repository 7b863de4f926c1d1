import { expect, test } from 'vitest';
import {
  columnKey,
  fullName,
  readColumnKey,
  readTableKey,
  shortName,
  tableKey,
  tableLabel,
  tableOf,
} from '../src/state/names';

const HOSTILE = ['<script>', 'a|b', '100%', '%7C', '', '../../x', '\u202egnp', 'a\u0000b', '🐟'];

test.each(HOSTILE)('a key preserves the name %j', (text) => {
  const column = { namespace: text, name: `t${text}`, field: text };
  expect(readColumnKey(columnKey(column))).toEqual(column);
  expect(tableOf(columnKey(column))).toBe(tableKey(column));
  expect(readTableKey(tableKey(column))).toEqual({ namespace: text, name: `t${text}` });
});

test('different columns have different keys', () => {
  expect(columnKey({ namespace: 'a|b', name: 'c', field: 'd' })).not.toBe(
    columnKey({ namespace: 'a', name: 'b|c', field: 'd' }),
  );
});

test.each(['', 'a', 'a|b', 'a|b|c|d'])('%j is not a column key', (key) =>
  expect(readColumnKey(key)).toBeNull(),
);

test.each([
  ['/lake/silver/customers', 'silver.customers'],
  ['shop.public.orders', 'orders'],
  ['db.orders', 'db.orders'],
  ['orders', 'orders'],
  ['', ''],
])('the short name of %s is %s', (name, short) => expect(shortName(name)).toBe(short));

test('the name of a table comes from the label of its column', () => {
  const column = { namespace: 'file', name: '/lake/exports/mailing_list', field: 'a.b' };
  expect(tableLabel({ ...column, label: 'exports.mailing_list.a.b' })).toBe('exports.mailing_list');
  expect(tableLabel(column)).toBe('mailing_list');
});

test.each([
  ['file', '/lake/gold/revenue', 'file/lake/gold/revenue'],
  ['s3://lake', '/gold/revenue', 's3://lake/gold/revenue'],
  ['s3://lake', 'gold/revenue', 's3://lake/gold/revenue'],
  ['file:/', '/lake/gold', 'file:/lake/gold'],
  ['shop', 'daily_revenue', 'shop/daily_revenue'],
])('the full name of %s and %s is %s', (namespace, name, full) => {
  expect(fullName({ namespace, name })).toBe(full);
});
