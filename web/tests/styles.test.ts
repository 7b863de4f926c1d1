import { expect, test } from 'vitest';

const SHEETS = Object.entries(
  import.meta.glob<string>('../src/style/*.css', { query: '?raw', import: 'default', eager: true }),
).map(([path, text]): [name: string, text: string] => [path.split('/').at(-1) ?? '', text]);
const TOKENS = SHEETS.find(([name]) => name === 'tokens.css')?.[1] ?? '';

const token = (name: string) => new RegExp(`--${name}: ([^;]+);`).exec(TOKENS)?.[1];

test('there are four font sizes, six distances and one radius', () => {
  expect(['small', 'normal', 'large', 'huge'].map(token)).toEqual(['12.5px', '14px', '16px', '20px']);
  expect(['s1', 's2', 's3', 's4', 's5', 's6'].map(token)).toEqual([
    '4px',
    '8px',
    '12px',
    '16px',
    '24px',
    '32px',
  ]);
  expect(token('radius')).toBe('8px');
});

test('the layers have their colors', () => {
  const layers = ['bronze', 'silver', 'gold', 'platinum', 'none'].map((name) => token(`layer-${name}`));
  expect(layers).toEqual(['#b0713c', '#7c8aa0', '#b98a1d', '#5b6b8c', '#9aa1ac']);
});

test.each(SHEETS)('%s takes font sizes from the tokens', (_, text) => {
  const sizes = [...text.matchAll(/font-size: ([^;]+);/g)].map((match) => match[1]);
  expect(sizes.filter((size) => !/^(var\(--(small|normal|large|huge)\)|inherit)$/.test(size ?? ''))).toEqual(
    [],
  );
});

test.each(SHEETS.filter(([name]) => name !== 'tokens.css'))('%s has no colors of its own', (_, text) => {
  expect(text.match(/#[0-9a-f]{3,8}\b|rgb\(/gi)).toBeNull();
});
