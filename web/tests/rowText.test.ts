import { expect, test } from 'vitest';
import { CARD_WIDTH } from '../src/graph/cards';
import { fieldText, typeText } from '../src/graph/rowText';

const row = (field: string, type: string | null, badges = {}) => ({
  key: '',
  field,
  type,
  tags: [],
  onPath: true,
  aggregated: false,
  masked: false,
  ...badges,
});
const LONG = 'customer_lifetime_value_in_euros_after_refunds';

test('a short name and its type are complete', () => {
  const short = row('lifetime_value', 'double', { aggregated: true });
  expect([fieldText(short, null), typeText(short)]).toEqual(['lifetime_value', 'double']);
});

test.each([
  row(LONG, null),
  row(LONG, 'string'),
  row(LONG, 'struct<amount:decimal(18,2),currency:string>', { aggregated: true }),
])('a long name is truncated in the middle to what type and badges leave', (long) => {
  const name = fieldText(long, 'clear');
  const badges = 20 * (1 + Number(long.aggregated));
  expect(name).toMatch(/^c.*….*s$/);
  expect(name.length * 7.5 + typeText(long).length * 7.2 + badges).toBeLessThan(CARD_WIDTH - 24);
});
