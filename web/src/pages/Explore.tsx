/** Explore: the home page, or the lineage of the column in the URL. */
import { lazy } from 'react';
import { useView } from '../state/view';
import { Home } from './Home';

const Lineage = lazy(() => import('./Lineage'));

export function Explore() {
  const column = useView((view) => view.column);
  return column === null ? <Home /> : <Lineage />;
}
