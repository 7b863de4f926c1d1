/** The canvas: cards, the edges below them, pan, zoom and keyboard control. */
import '@xyflow/react/dist/base.css';
import { Background, MiniMap, ReactFlow, ReactFlowProvider, ViewportPortal } from '@xyflow/react';
import { useMemo, useRef } from 'react';
import { tableOf } from '../state/names';
import { ActionsContext, type CanvasActions } from './canvasActions';
import { CARD_WIDTH } from './cards';
import { EdgeLines } from './EdgeLines';
import { GraphFind } from './GraphFind';
import type { Point } from './layout';
import { type CardNode, TableCard } from './TableCard';
import { useCanvasKeys } from './useCanvasKeys';
import type { Drawing } from './useDrawing';
import { useViewport } from './useViewport';
import { MIN_ZOOM } from './viewport';
import { ZoomButtons } from './ZoomButtons';

const NODE_TYPES = { card: TableCard };
/** In a larger drawing, new cards appear without animation. */
const MAX_ANIMATED_CARDS = 60;
/** A drawing with this many cards has a minimap. */
const MIN_MINIMAP_CARDS = 30;

const layerClass = (node: CardNode) => `layer-${node.data.card.layer ?? 'none'}`;

interface CanvasProps {
  readonly drawing: Drawing;
  /** Identifies what the drawing shows. When it changes, the viewport is fitted to the new drawing. */
  readonly subject: string;
  readonly focusTable: string | null;
  readonly actions: CanvasActions;
}

/** Where the animation of a new card starts, relative to its position: at a neighbour that was there before. */
function animationStart(key: string, drawing: Drawing, previous: ReadonlyMap<string, Point>): Point | null {
  const { positions } = drawing.layout;
  const links = drawing.edgePaths.map(({ edge }) => [tableOf(edge.from), tableOf(edge.to)] as const);
  const link = links.find(
    ([from, to]) => (from === key && previous.has(to)) || (to === key && previous.has(from)),
  );
  const neighbour = link?.[0] === key ? link[1] : link?.[0];
  const end = positions.get(key);
  const start = neighbour === undefined ? undefined : positions.get(neighbour);
  return end && start ? { x: start.x - end.x, y: start.y - end.y } : null;
}

function useNodes(drawing: Drawing, subject: string): CardNode[] {
  const last = useRef<{ subject: string; positions: ReadonlyMap<string, Point> }>({
    subject: '',
    positions: new Map(),
  });
  return useMemo(() => {
    const { positions } = drawing.layout;
    const previous = last.current.subject === subject ? last.current.positions : null;
    last.current = { subject, positions };
    return drawing.cards.map((card): CardNode => {
      const isNew = previous !== null && previous.size < MAX_ANIMATED_CARDS && !previous.has(card.key);
      return {
        id: card.key,
        type: 'card',
        position: positions.get(card.key) ?? { x: 0, y: 0 },
        width: CARD_WIDTH,
        height: card.height,
        data: { card, isNew, origin: isNew ? animationStart(card.key, drawing, previous) : null },
      };
    });
  }, [drawing, subject]);
}

function Flow({ drawing, subject, focusTable, actions }: CanvasProps) {
  const nodes = useNodes(drawing, subject);
  const canvas = useRef<HTMLDivElement>(null);
  const { onInit, showAll, ...moveHandlers } = useViewport(drawing, subject, focusTable, canvas);
  const onKeyDown = useCanvasKeys(drawing, actions);
  return (
    <ActionsContext value={actions}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: arrow keys move between the buttons inside */}
      <div className="canvas" ref={canvas} onKeyDown={onKeyDown}>
        <ReactFlow
          nodes={nodes}
          nodeTypes={NODE_TYPES}
          minZoom={MIN_ZOOM}
          maxZoom={1.5}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          elementsSelectable={false}
          disableKeyboardA11y
          zoomOnDoubleClick={false}
          onInit={onInit}
          {...moveHandlers}
          onPaneClick={() => actions.select('')}
          aria-label="Lineage graph, also available as the table below"
        >
          <ViewportPortal>
            <EdgeLines paths={drawing.edgePaths} />
          </ViewportPortal>
          <Background gap={24} size={1} />
          <GraphFind drawing={drawing} />
          {drawing.cards.length >= MIN_MINIMAP_CARDS && (
            <MiniMap
              position="bottom-left"
              pannable
              zoomable
              nodeClassName={layerClass}
              ariaLabel="Overview of the graph"
            />
          )}
          <ZoomButtons onShowAll={showAll} />
        </ReactFlow>
      </div>
    </ActionsContext>
  );
}

export function Canvas(props: CanvasProps) {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}
