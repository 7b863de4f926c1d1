/** Buttons for what a wheel does, for those who have none. */
import { Panel, useReactFlow } from '@xyflow/react';

export function Zoom({ onAll }: { onAll: () => void }) {
  const flow = useReactFlow();
  return (
    <Panel position="bottom-right" className="zoom">
      <button type="button" aria-label="zoom in" onClick={() => void flow.zoomIn()}>
        +
      </button>
      <button type="button" aria-label="zoom out" onClick={() => void flow.zoomOut()}>
        −
      </button>
      <button type="button" aria-label="show all" onClick={onAll}>
        ⤢
      </button>
    </Panel>
  );
}
