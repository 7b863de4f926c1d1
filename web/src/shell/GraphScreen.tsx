/** The frame of every mode with a graph: canvas above, verdict and list below, details beside. */
import type { ReactNode } from 'react';
import { go, useView } from '../state/view';

interface ScreenProps {
  readonly tools?: ReactNode;
  readonly graph: ReactNode;
  /** The verdict line and the list. */
  readonly below: ReactNode;
  readonly panel?: ReactNode;
}

export function Screen({ tools, graph, below, panel }: ScreenProps) {
  const listed = useView((view) => view.list);
  const graphFirst = useView((view) => view.graph);
  const classes = ['screen', listed && 'listed', graphFirst && 'graph-first'].filter(Boolean).join(' ');
  return (
    <div className={classes}>
      <div className="stage">
        {tools !== undefined && <div className="tools">{tools}</div>}
        <div className="graph">{graph}</div>
        <button
          type="button"
          className="switch"
          aria-pressed={graphFirst}
          onClick={() => go({ graph: !graphFirst }, 'replace')}
        >
          {graphFirst ? 'Show the list' : 'Show the graph'}
        </button>
        <div className="below">{below}</div>
      </div>
      {panel}
    </div>
  );
}
