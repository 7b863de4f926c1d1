import { expect, test } from 'vitest';
import { toCsv } from '../src/format/csv';
import { byteSize, countOf, truncateEnd, truncateMiddle, truncateWords, visible } from '../src/format/text';
import {
  duration,
  fromInputValue,
  historyLength,
  relativeTime,
  toInputValue,
  utcTime,
} from '../src/format/time';

test('an error keeps its start', () => {
  expect(truncateEnd('[CAST_INVALID_INPUT] The value', 21)).toBe('[CAST_INVALID_INPUT]…');
  expect(truncateEnd('short', 5)).toBe('short');
});

test.each([
  ['short', 10, 'short'],
  ['customer_email_address', 11, 'custo…dress'],
  ['🐟🐟🐟🐟🐟', 3, '🐟…🐟'],
  ['ab', 1, '…'],
])('%s truncated to %i characters is %s', (text, limit, truncated) =>
  expect(truncateMiddle(text, limit)).toBe(truncated),
);

test('a truncated name has exactly the given length', () => {
  for (let limit = 1; limit < 40; limit += 1)
    expect(Array.from(truncateMiddle('x'.repeat(100), limit)).length).toBe(limit);
});

test('invisible characters are made visible', () => {
  expect(visible('a\u0000b')).toBe('a␀b');
  expect(visible('\u202egnp.exe')).toBe('‹202E›gnp.exe');
  expect(visible('a\u2028b')).toBe('a‹2028›b');
  expect(visible('naïve 🐟 עברית')).toBe('naïve 🐟 עברית');
});

test('counts use singular and plural', () => {
  expect(countOf(1, 'column')).toBe('1 column');
  expect(countOf(12345, 'column')).toBe('12,345 columns');
});

const NOW = Date.parse('2026-11-15T12:00:00Z');

test.each([
  ['2026-11-15T11:59:50Z', 'now'],
  ['2026-11-15T11:15:00Z', '45m'],
  ['2026-11-14T12:00:00Z', '1d'],
  ['2026-11-15T14:00:00Z', 'in 2h'],
  ['2026-11-02T11:00:00Z', '13d'],
  ['2026-09-16T12:00:00Z', '8w'],
  ['2024-11-15T12:00:00Z', '23mo'],
  ['2023-11-15T12:00:00Z', '3y'],
  ['not a time', 'not a time'],
])('%s is %s', (timestamp, text) => expect(relativeTime(timestamp, NOW)).toBe(text));

test('UTC times have seconds', () =>
  expect(utcTime('2026-11-15T12:00:00+02:00')).toBe('2026-11-15 10:00:00 UTC'));

test('a timestamp survives a date input', () => {
  expect(fromInputValue(toInputValue('2026-11-15T12:34:00.000Z'))).toBe('2026-11-15T12:34:00.000Z');
  expect(fromInputValue('')).toBeNull();
  expect(toInputValue(null)).toBe('');
});

test.each([
  [12, '12 ms'],
  [59_400, '59 s'],
  [60_000, '1 min'],
  [250_000, '4 min 10 s'],
  [12_000_000, '3 h 20 min'],
])('%i milliseconds are %s', (milliseconds, text) => expect(duration(milliseconds)).toBe(text));

test('CSV quotes special characters and disarms formulas', () => {
  const rows = [
    ['a,b', 'a "b"'],
    ['=HYPERLINK("x")', '-3'],
    ['two\nlines', '@cmd'],
  ];
  expect(toCsv(['x', 'y'], rows)).toBe(
    'x,y\r\n"a,b","a ""b"""\r\n"\'=HYPERLINK(""x"")",-3\r\n"two\nlines",\'@cmd\r\n',
  );
});

test('a long name does not hide the rest of a sentence', () => {
  expect(truncateWords(`${'a'.repeat(50)} has 1 column`, 9)).toBe('aaaa…aaaa has 1 column');
});

// the words of `colline droppable`
test.each([
  [3.21, '3.2 s'],
  [45, '45 s'],
  [1800, '30 min'],
  [86_442, '24.0 h'],
  [34_551_360, '400 days'],
])('a history of %d seconds is %s', (seconds, text) => {
  expect(historyLength(seconds)).toBe(text);
});

test.each([
  [0, '0 bytes'],
  [999, '999 bytes'],
  [4494, '4.5 kB'],
  [12_345_678, '12.3 MB'],
  [250_000_000_000, '250 GB'],
])('%d bytes are %s', (bytes, text) => {
  expect(byteSize(bytes)).toBe(text);
});
