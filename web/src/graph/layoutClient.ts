/** Requests layouts from the worker. */
import type { Box, Layout, Link } from './layout';
import type { LayoutRequest, LayoutResponse } from './layout.worker';

let worker: Worker | null = null;
let lastId = 0;
const callbacks = new Map<number, (layout: Layout) => void>();

function getWorker(): Worker {
  if (worker === null) {
    worker = new Worker(new URL('./layout.worker.ts', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<LayoutResponse>) => {
      callbacks.get(data.id)?.(data.layout);
      callbacks.delete(data.id);
    };
  }
  return worker;
}

/** Calls `onLayout` with the layout. The returned function cancels the request. */
export function requestLayout(
  boxes: readonly Box[],
  links: readonly Link[],
  onLayout: (layout: Layout) => void,
): () => void {
  lastId += 1;
  const request: LayoutRequest = { id: lastId, boxes, links };
  callbacks.set(request.id, onLayout);
  getWorker().postMessage(request);
  return () => callbacks.delete(request.id);
}
