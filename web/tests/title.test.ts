import { expect, test } from 'vitest';
import { pageTitle } from '../src/state/title';
import { HOME } from '../src/state/url';

test.each([
  [{}, 'colline'],
  [{ column: 'file|/lake/gold/revenue|net' }, 'gold.revenue.net · colline'],
  [{ mode: 'personal' }, 'Personal data · colline'],
  [
    { mode: 'personal', column: 'file|/lake/bronze/users|email' },
    'bronze.users.email · Personal data · colline',
  ],
  [{ mode: 'tables' }, 'Tables · colline'],
  [{ mode: 'tables', table: 'file|/lake/gold/revenue' }, 'gold.revenue · colline'],
  [{ mode: 'runs', job: '["shop","daily\u202erevenue"]' }, 'daily‹202E›revenue · colline'],
  [{ mode: 'missing' }, 'Page not found · colline'],
] as const)('the title of %j is %s', (view, title) => {
  expect(pageTitle({ ...HOME, ...view })).toBe(title);
});
