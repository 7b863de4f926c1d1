/** All edges of a drawing, in one SVG below the cards. */
import { memo } from 'react';
import { useStore } from '../state/store';
import { useActions } from './canvasActions';
import type { EdgePath } from './edgePaths';
import { edgeMark, highlightStore, hoverStore, isMarkHidden, type Mark } from './highlight';
import { edgeSymbols } from './labels';
import type { Point } from './layout';

function EdgeSymbol({ at, path }: { at: Point; path: string }) {
  return (
    <g className="edge-symbol" transform={`translate(${at.x - 8} ${at.y - 8})`}>
      <circle cx="8" cy="8" r="9" />
      <path d={path} />
    </g>
  );
}

interface EdgeLineProps {
  readonly edgePath: EdgePath;
  readonly mark: Mark | null;
  readonly onPath: boolean;
  readonly onSelect: (key: string) => void;
}

const EdgeLine = memo(function EdgeLine({ edgePath, mark, onPath, onSelect }: EdgeLineProps) {
  const { edge, path, middle } = edgePath;
  const classes = [
    'line',
    edge.direct ? 'direct' : 'indirect',
    onPath && 'highlighted',
    mark && `mark-${mark}`,
  ];
  return (
    <g className={classes.filter(Boolean).join(' ')}>
      <path d={path} />
      {/* biome-ignore lint/a11y/noStaticElementInteractions: with the keyboard, edges are reached through rows */}
      <path d={path} className="hit-area" onClick={() => onSelect(edge.key)} />
      {edgeSymbols(edge, mark).map((symbol) => (
        <EdgeSymbol key={symbol} at={middle} path={symbol} />
      ))}
    </g>
  );
});

export const EdgeLines = memo(function EdgeLines({ paths }: { paths: readonly EdgePath[] }) {
  const highlight = useStore(highlightStore, (value) => value);
  const hover = useStore(hoverStore, (value) => value);
  const { select } = useActions();
  return (
    <svg className={highlight.path === null ? 'lines' : 'lines pinned'} aria-hidden="true">
      {paths.map((edgePath) => {
        const mark = edgeMark(edgePath.edge, highlight);
        if (isMarkHidden(mark, highlight)) return null;
        const { key } = edgePath.edge;
        const onPath = (highlight.path?.edges.has(key) || hover?.edges.has(key)) ?? false;
        return (
          <EdgeLine key={edgePath.key} edgePath={edgePath} mark={mark} onPath={onPath} onSelect={select} />
        );
      })}
    </svg>
  );
});
