/** Layout of the pages with a graph: toolbar and graph above, verdict and table below, details at the side. */
import type { ReactNode } from 'react';
import type { QueryState } from '../api/useQuery';
import { navigate, useView } from '../state/view';
import { Icon } from './icons';

interface GraphScreenProps {
  readonly toolbar?: ReactNode;
  readonly graph: ReactNode;
  /** The verdict line and the table. */
  readonly answer: ReactNode;
  /** State of the query of the answer: an outdated answer is dimmed. */
  readonly state: QueryState<unknown>['state'];
  readonly panel?: ReactNode;
}

/** Buttons that collapse and show the table below and the details at the side. */
function ScreenParts({ hasPanel }: { hasPanel: boolean }) {
  const showTable = useView((view) => view.list);
  const showPanel = useView((view) => view.panel);
  return (
    <div className="screen-parts">
      <button
        type="button"
        className="icon-button"
        aria-label="List"
        title={`${showTable ? 'Hide' : 'Show'} the list (l)`}
        aria-pressed={showTable}
        onClick={() => navigate({ list: !showTable }, 'replace')}
      >
        <Icon name="list" />
      </button>
      {hasPanel && (
        <button
          type="button"
          className="icon-button"
          aria-label="Details"
          title={`${showPanel ? 'Hide' : 'Show'} the details (d)`}
          aria-pressed={showPanel}
          onClick={() => navigate({ panel: !showPanel }, 'replace')}
        >
          <Icon name="panel" />
        </button>
      )}
    </div>
  );
}

export function GraphScreen({ toolbar, graph, answer, state, panel }: GraphScreenProps) {
  const showTable = useView((view) => view.list);
  const showPanel = useView((view) => view.panel);
  const showGraph = useView((view) => view.graph);
  const classes = ['screen', !showTable && 'without-table', showGraph && 'graph-first'];
  return (
    <div className={classes.filter(Boolean).join(' ')}>
      <div className="graph-and-answer">
        <div className="toolbar">
          {toolbar}
          <ScreenParts hasPanel={panel !== undefined} />
        </div>
        <div className="graph">{graph}</div>
        <button
          type="button"
          className="graph-toggle"
          aria-pressed={showGraph}
          onClick={() => navigate({ graph: !showGraph }, 'replace')}
        >
          {showGraph ? 'Show table' : 'Show graph'}
        </button>
        <div className={state === 'slow' ? 'answer slow' : 'answer'} aria-busy={state !== 'done'}>
          {answer}
        </div>
      </div>
      {showPanel && panel}
    </div>
  );
}
