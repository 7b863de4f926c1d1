/** Which component shows which mode. All but the first paint's are loaded when they are opened. */
import { type ComponentType, lazy } from 'react';
import type { Mode } from '../state/url';
import { Explore } from './Explore';

const later = (load: () => Promise<{ default: ComponentType }>) => lazy(load);

export const MODE_VIEWS: Readonly<Record<Mode, ComponentType>> = {
  explore: Explore,
  personal: later(() => import('./PersonalData')),
  changes: later(() => import('./Changes')),
  coverage: later(() => import('./Coverage')),
  runs: later(() => import('./Runs')),
  quarantine: later(() => import('./Quarantine')),
};
