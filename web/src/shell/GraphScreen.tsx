/** Layout of the pages with a graph: toolbar and graph above, verdict and table below, details at the side. */
import type { ReactNode } from 'react';
import { navigate, useView } from '../state/view';

interface GraphScreenProps {
  readonly toolbar?: ReactNode;
  readonly graph: ReactNode;
  /** The verdict line and the table. */
  readonly answer: ReactNode;
  readonly panel?: ReactNode;
}

export function GraphScreen({ toolbar, graph, answer, panel }: GraphScreenProps) {
  const showTable = useView((view) => view.list);
  const showGraph = useView((view) => view.graph);
  const classes = ['screen', !showTable && 'without-table', showGraph && 'graph-first'];
  return (
    <div className={classes.filter(Boolean).join(' ')}>
      <div className="graph-and-answer">
        {toolbar !== undefined && <div className="toolbar">{toolbar}</div>}
        <div className="graph">{graph}</div>
        <button
          type="button"
          className="graph-toggle"
          aria-pressed={showGraph}
          onClick={() => navigate({ graph: !showGraph }, 'replace')}
        >
          {showGraph ? 'Show table' : 'Show graph'}
        </button>
        <div className="answer">{answer}</div>
      </div>
      {panel}
    </div>
  );
}
