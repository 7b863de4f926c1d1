/** The page: header, modes, and the mode in view. */
import { Suspense, useEffect } from 'react';
import { MODE_VIEWS } from '../pages';
import { freshness, isOld, refresh, watchFreshness } from '../state/freshness';
import { useStore } from '../state/store';
import { useView } from '../state/view';
import { Header } from './Header';
import { Help } from './HelpDialog';
import { Nav } from './Navigation';
import { Loading } from './QueryState';
import { useShortcuts } from './shortcuts';

function Newer() {
  const old = useStore(freshness, isOld);
  const past = useView((view) => view.asOf !== null);
  if (!old || past) return null;
  return (
    <div className="newer" role="status">
      There is newer lineage.{' '}
      <button type="button" className="link" onClick={refresh}>
        Refresh
      </button>
    </div>
  );
}

export function App() {
  const mode = useView((view) => view.mode);
  useShortcuts();
  useEffect(watchFreshness, []);
  const Mode = MODE_VIEWS[mode];
  return (
    <>
      <a className="skip" href="#main">
        Skip to the answer
      </a>
      <Header />
      <Newer />
      <div className="body">
        <Nav />
        <main id="main" tabIndex={-1}>
          <Suspense fallback={<Loading />}>
            <Mode />
          </Suspense>
        </main>
      </div>
      <Help />
    </>
  );
}
