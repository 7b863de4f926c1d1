/** The color theme: light, dark, or that of the system. Stored for the next visit. */
import { createStore } from '../state/store';

export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const STORAGE_KEY = 'colline.theme';
const stored = localStorage.getItem(STORAGE_KEY);

export const theme = createStore<Theme>(THEMES.find((each) => each === stored) ?? 'auto');

function apply(): void {
  const name = theme.get();
  if (name === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
}

/** Switches to the next theme and stores it. */
export function switchTheme(): void {
  const next = THEMES[(THEMES.indexOf(theme.get()) + 1) % THEMES.length] ?? 'auto';
  localStorage.setItem(STORAGE_KEY, next);
  theme.set(next);
}

theme.subscribe(apply);
apply();
