/** The application: header, navigation and the current page. */
import { Suspense, useEffect } from 'react';
import { PAGES } from '../pages';
import { freshness, hasNewerSnapshot, pollSnapshot, refresh } from '../state/freshness';
import { useStore } from '../state/store';
import { pageTitle } from '../state/title';
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
  const title = useView(pageTitle);
  useShortcuts();
  useEffect(pollSnapshot, []);
  useEffect(() => {
    document.title = title;
  }, [title]);
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
