/** Shown for an unknown path. */
import { ViewLink } from '../shell/Links';
import { EmptyState } from '../shell/QueryState';
import { HOME } from '../state/url';

export function MissingPage() {
  return (
    <EmptyState title="Page not found">
      <p>
        No page has the path <code>{location.pathname.slice(0, 200)}</code>. Search above, or go to the{' '}
        <ViewLink to={HOME}>home page</ViewLink>.
      </p>
    </EmptyState>
  );
}
