/** All lines of a drawing in one SVG under the cards. */
import { memo } from 'react';
import { SHIELD } from '../shell/icons';
import { useStore } from '../state/store';
import { useActions } from './canvasActions';
import type { Line as LineData } from './edgePaths';
import { isHidden, type Mark, markOf, paint } from './highlight';

interface LineProps {
  readonly line: LineData;
  readonly mark: Mark | null;
  readonly lit: boolean;
  readonly onPick: (key: string) => void;
}

const Line = memo(function Line({ line, mark, lit, onPick }: LineProps) {
  const { edge, path, middle } = line;
  const classes = ['line', edge.direct ? 'direct' : 'indirect', lit && 'lit', mark && `mark-${mark}`];
  return (
    <g className={classes.filter(Boolean).join(' ')}>
      <path d={path} />
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the list and the rows are the way by keyboard */}
      <path d={path} className="hit" onClick={() => onPick(edge.key)} />
      {edge.masking && (
        <g className="shield" transform={`translate(${middle.x - 8} ${middle.y - 8})`}>
          <circle cx="8" cy="8" r="9" />
          <path d={SHIELD} />
        </g>
      )}
      {(mark === 'added' || mark === 'removed' || mark === 'changed') && (
        <g className="shield" transform={`translate(${middle.x - 8} ${middle.y - 8})`}>
          <circle cx="8" cy="8" r="9" />
          <path
            d={mark === 'added' ? 'M8 4v8M4 8h8' : mark === 'removed' ? 'M4 8h8' : 'M4 9c2-3 3-3 4-1s3 1 4-1'}
          />
        </g>
      )}
    </g>
  );
});

export const Lines = memo(function Lines({ lines }: { lines: readonly LineData[] }) {
  const paints = useStore(paint, (value) => value);
  const { pick } = useActions();
  return (
    <svg className={paints.path === null ? 'lines' : 'lines pinned'} aria-hidden="true">
      {lines.map((line) => {
        const mark = markOf(line.edge, paints);
        if (isHidden(mark, paints)) return null;
        const lit = paints.path?.edges.has(line.edge.key) ?? false;
        return <Line key={line.key} line={line} mark={mark} lit={lit} onPick={pick} />;
      })}
    </svg>
  );
});
