/** Light, dark, or as the system says; kept for the next visit. */
import { createStore } from '../state/store';

export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'colline.theme';
const kept = localStorage.getItem(KEY);

export const theme = createStore<Theme>(THEMES.find((each) => each === kept) ?? 'auto');

function apply(): void {
  const name = theme.get();
  if (name === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
}

/** Goes to the next theme and keeps it. */
export function nextTheme(): void {
  const next = THEMES[(THEMES.indexOf(theme.get()) + 1) % THEMES.length] ?? 'auto';
  localStorage.setItem(KEY, next);
  theme.set(next);
}

theme.watch(apply);
apply();
