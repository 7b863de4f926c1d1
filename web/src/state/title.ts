/** The title of the page in tabs, bookmarks and the browser history. */
import { truncateMiddle, visible } from '../format/text';
import { readColumnKey, readJobKey, readTableKey, shortName } from './names';
import type { View } from './url';

const MAX_NAME_LENGTH = 80;

const PAGE_TITLES: Readonly<Record<View['mode'], string>> = {
  explore: '',
  tables: 'Tables',
  runs: 'Jobs',
  personal: 'Personal data',
  changes: 'Changes',
  coverage: 'Coverage',
  quarantine: 'Quarantine',
  missing: 'Page not found',
};

/** What the view is about: a column, a table or a job; null on overviews. */
function subjectOf({ mode, column, table, job }: View): string | null {
  const columnRef = mode === 'explore' || mode === 'personal' ? readColumnKey(column ?? '') : null;
  if (columnRef !== null) return `${shortName(columnRef.name)}.${columnRef.field}`;
  const tableRef = mode === 'tables' ? readTableKey(table ?? '') : null;
  if (tableRef !== null) return shortName(tableRef.name);
  return mode === 'runs' ? (readJobKey(job)?.name ?? null) : null;
}

/** `gold.daily_revenue.net · colline`, `Changes · colline`, or `colline` on the home page. */
export function pageTitle(view: View): string {
  const subject = subjectOf(view);
  const name = subject === null ? null : truncateMiddle(visible(subject), MAX_NAME_LENGTH);
  const page = subject === null || view.mode === 'personal' ? PAGE_TITLES[view.mode] : null;
  return [name, page, 'colline'].filter(Boolean).join(' · ');
}
