/** Zoom buttons, for users without a mouse wheel. */
import { Panel, useReactFlow } from '@xyflow/react';

export function ZoomButtons({ onShowAll }: { onShowAll: () => void }) {
  const flow = useReactFlow();
  return (
    <Panel position="bottom-right" className="zoom">
      <button type="button" aria-label="Zoom in" onClick={() => void flow.zoomIn()}>
        +
      </button>
      <button type="button" aria-label="Zoom out" onClick={() => void flow.zoomOut()}>
        −
      </button>
      <button type="button" aria-label="Show all" onClick={onShowAll}>
        ⤢
      </button>
    </Panel>
  );
}
