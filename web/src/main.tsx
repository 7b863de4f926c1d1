import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './shell/App';
import './shell/theme';
import './style/tokens.css';
import './style/base.css';
import './style/badges.css';
import './style/shell.css';
import './style/states.css';
import './style/dialog.css';
import './style/search.css';
import './style/screen.css';
import './style/canvas.css';
import './style/card.css';
import './style/panel.css';
import './style/verdict-line.css';
import './style/table.css';
import './style/home.css';
import './style/pages.css';

const root = document.getElementById('root');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
