/** The top of the page: name, search, as of when, theme, keys. */
import { Search } from '../search/Search';
import { useStore } from '../state/store';
import { HOME } from '../state/url';
import { go, useView } from '../state/view';
import { AsOf } from './AsOfPicker';
import { Icon } from './icons';
import { helpOpen } from './shortcuts';
import { nextTheme, theme } from './theme';

export function Header() {
  const colours = useStore(theme, (value) => value);
  const home = useView((view) => view.mode === 'explore' && view.column === null);
  return (
    <header className="top">
      <a
        className="brand"
        href={location.pathname}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return;
          event.preventDefault();
          go(HOME);
        }}
      >
        colline
      </a>
      {home ? <span className="spacer" /> : <Search />}
      <AsOf />
      <button
        type="button"
        className="icon-button"
        aria-label={`theme: ${colours}`}
        title={`theme: ${colours}`}
        onClick={nextTheme}
      >
        <Icon name="theme" />
      </button>
      <button
        type="button"
        className="icon-button"
        aria-label="keys"
        title="keys (?)"
        onClick={() => helpOpen.set(true)}
      >
        ?
      </button>
    </header>
  );
}
