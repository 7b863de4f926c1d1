/** Asks the worker for layouts; only the newest answer counts. */
import type { Box, Layout, Link } from './layout';
import type { LayoutAsked, LayoutDone } from './layout.worker';

let worker: Worker | null = null;
let tickets = 0;
const waiting = new Map<number, (layout: Layout) => void>();

function started(): Worker {
  if (worker === null) {
    worker = new Worker(new URL('./layout.worker.ts', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<LayoutDone>) => {
      waiting.get(data.ticket)?.(data.layout);
      waiting.delete(data.ticket);
    };
  }
  return worker;
}

/** Calls `done` with the layout, unless the returned function was called first. */
export function requestLayout(
  boxes: readonly Box[],
  links: readonly Link[],
  done: (layout: Layout) => void,
): () => void {
  tickets += 1;
  const asked: LayoutAsked = { ticket: tickets, boxes, links };
  waiting.set(asked.ticket, done);
  started().postMessage(asked);
  return () => waiting.delete(asked.ticket);
}
