/** The application: header, navigation and the current page. */
import { Suspense, useEffect } from 'react';
import { PAGES } from '../pages';
import { freshness, hasNewerSnapshot, pollSnapshot, refresh } from '../state/freshness';
import { useStore } from '../state/store';
import { useView } from '../state/view';
import { Header } from './Header';
import { HelpDialog } from './HelpDialog';
import { Navigation } from './Navigation';
import { Loading } from './QueryState';
import { useShortcuts } from './shortcuts';

function UpdateBanner() {
  const isOutdated = useStore(freshness, hasNewerSnapshot);
  const isPast = useView((view) => view.asOf !== null);
  if (!isOutdated || isPast) return null;
  return (
    <div className="update-banner" role="status">
      Newer lineage is available.{' '}
      <button type="button" className="link" onClick={refresh}>
        Refresh
      </button>
    </div>
  );
}

export function App() {
  const mode = useView((view) => view.mode);
  useShortcuts();
  useEffect(pollSnapshot, []);
  const Page = PAGES[mode];
  return (
    <>
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <Header />
      <UpdateBanner />
      <div className="body">
        <Navigation />
        <main id="main" tabIndex={-1}>
          <Suspense fallback={<Loading />}>
            <Page />
          </Suspense>
        </main>
      </div>
      <HelpDialog />
    </>
  );
}
