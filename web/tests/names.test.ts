import { expect, test } from 'vitest';
import { columnKey, readColumnKey, readTableKey, shortName, tableKey, tableOf } from '../src/state/names';

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
