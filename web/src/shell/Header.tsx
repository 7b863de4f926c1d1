/** The header: home link, search, as-of time, theme, keyboard shortcuts. */
import { Search } from '../search/Search';
import { ROOT } from '../state/root';
import { useStore } from '../state/store';
import { HOME } from '../state/url';
import { navigate, useView } from '../state/view';
import { AsOfPicker } from './AsOfPicker';
import { Icon } from './icons';
import { helpOpen } from './shortcuts';
import { switchTheme, theme } from './theme';

export function Header() {
  const currentTheme = useStore(theme, (value) => value);
  const isHome = useView((view) => view.mode === 'explore' && view.column === null);
  return (
    <header className="header">
      <a
        className="brand"
        href={ROOT}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return;
          event.preventDefault();
          navigate(HOME);
        }}
      >
        colline
      </a>
      {isHome ? <span className="spacer" /> : <Search />}
      <AsOfPicker />
      <button
        type="button"
        className="icon-button"
        aria-label={`Theme: ${currentTheme}`}
        title={`Theme: ${currentTheme}`}
        onClick={switchTheme}
      >
        <Icon name="theme" />
      </button>
      <button
        type="button"
        className="icon-button"
        aria-label="Keyboard shortcuts"
        title="Keyboard shortcuts (?)"
        onClick={() => helpOpen.set(true)}
      >
        ?
      </button>
    </header>
  );
}
