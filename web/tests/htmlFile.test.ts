import { expect, test } from 'vitest';
import { toHtml } from '../src/graph/htmlFile';

const REPORT = {
  title: 'silver.orders.<b>',
  verdict: '2 columns & more',
  link: 'http://localhost/?column="x"',
  scene: null,
  header: ['Column', 'Table'],
  rows: [['<script>alert(1)</script>', 'orders']],
  isDark: true,
};

test('the file contains the verdict and the rows as text', () => {
  const html = toHtml(REPORT);
  expect(html).toContain('<h1>silver.orders.&lt;b&gt;</h1><p>2 columns &amp; more</p>');
  expect(html).toContain('<td>&lt;script&gt;alert(1)&lt;/script&gt;</td><td>orders</td>');
  expect(html).toContain('href="http://localhost/?column=&quot;x&quot;"');
  expect(html).not.toContain('<script');
});

test('a long table is truncated with a note', () => {
  const rows = Array.from({ length: 2100 }, (_, index) => [String(index)]);
  expect(toHtml({ ...REPORT, rows })).toContain('100 more rows');
});
