/** The canvas: cards placed by the worker, lines under them, pan, zoom and keys. */
import '@xyflow/react/dist/base.css';
import { Background, ReactFlow, ReactFlowProvider, ViewportPortal } from '@xyflow/react';
import { type ReactNode, useMemo, useRef } from 'react';
import { tableOf } from '../state/names';
import { ActionsContext, type CanvasActions } from './canvasActions';
import { CARD_WIDTH } from './cards';
import { Lines } from './EdgeLines';
import type { Place } from './layout';
import { Card, type CardNode } from './TableCard';
import { useArrows } from './useCanvasKeys';
import type { Drawing } from './useDrawing';
import { MIN_ZOOM, useViewport } from './useViewport';
import { Zoom } from './ZoomButtons';

const NODE_TYPES = { card: Card };

interface CanvasProps {
  readonly drawing: Drawing;
  /** Changes when another drawing starts: then everything is brought into sight. */
  readonly subject: string;
  readonly focusTable: string | null;
  readonly actions: CanvasActions;
  readonly children?: ReactNode;
}

/** Where a new card comes from, relative to its place: a neighbour that was there before. */
function originOf(key: string, drawing: Drawing, before: ReadonlyMap<string, Place>): Place | null {
  const ends = drawing.lines.map(({ edge }) => [tableOf(edge.from), tableOf(edge.to)] as const);
  const link = ends.find(
    ([from, to]) => (from === key && before.has(to)) || (to === key && before.has(from)),
  );
  const other = link?.[0] === key ? link[1] : link?.[0];
  const here = drawing.layout.places.get(key);
  const there = other === undefined ? undefined : drawing.layout.places.get(other);
  return here && there ? { x: there.x - here.x, y: there.y - here.y } : null;
}

function useNodes(drawing: Drawing, subject: string): CardNode[] {
  const before = useRef<{ subject: string; places: ReadonlyMap<string, Place> }>({
    subject: '',
    places: new Map(),
  });
  return useMemo(() => {
    const known = before.current.subject === subject ? before.current.places : null;
    before.current = { subject, places: drawing.layout.places };
    return drawing.cards.map((card): CardNode => {
      const enter = known !== null && known.size < 60 && !known.has(card.key);
      return {
        id: card.key,
        type: 'card',
        position: drawing.layout.places.get(card.key) ?? { x: 0, y: 0 },
        width: CARD_WIDTH,
        height: card.height,
        data: { card, enter, origin: enter && known ? originOf(card.key, drawing, known) : null },
      };
    });
  }, [drawing, subject]);
}

function Flow({ drawing, subject, focusTable, actions, children }: CanvasProps) {
  const nodes = useNodes(drawing, subject);
  const frame = useRef<HTMLDivElement>(null);
  const { onInit, showAll, ...moves } = useViewport(drawing, subject, focusTable, frame);
  const onKeyDown = useArrows(drawing, actions);
  return (
    <ActionsContext value={actions}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: arrow keys move among the buttons inside */}
      <div className="canvas" ref={frame} onKeyDown={onKeyDown}>
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
          {...moves}
          onPaneClick={() => actions.pick('')}
          aria-label="lineage graph; the list below says the same in words"
        >
          <ViewportPortal>
            <Lines lines={drawing.lines} />
          </ViewportPortal>
          <Background gap={24} size={1} />
          {children}
          <Zoom onAll={showAll} />
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
