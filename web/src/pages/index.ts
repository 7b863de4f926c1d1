/** The component of each page. Most are loaded when they are opened. */
import { type ComponentType, lazy } from 'react';
import type { Mode } from '../state/url';
import { Explore } from './Explore';
import { MissingPage } from './MissingPage';

export const PAGES: Readonly<Record<Mode, ComponentType>> = {
  explore: Explore,
  personal: lazy(() => import('./PersonalData')),
  changes: lazy(() => import('./Changes')),
  coverage: lazy(() => import('./Coverage')),
  tables: lazy(() => import('./Tables')),
  runs: lazy(() => import('./Runs')),
  quarantine: lazy(() => import('./Quarantine')),
  missing: MissingPage,
};
