/** Explore: the overview at first, then the graph of one column. */
import { lazy } from 'react';
import { useView } from '../state/view';
import { Home } from './Home';

const Lineage = lazy(() => import('./Lineage'));

export function Explore() {
  const column = useView((view) => view.column);
  return column === null ? <Home /> : <Lineage />;
}
