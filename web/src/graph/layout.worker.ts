/** Web worker that computes layouts, so that a large graph does not block the page. */
import { type Box, computeLayout, type Layout, type Link } from './layout';

export interface LayoutRequest {
  readonly id: number;
  readonly boxes: readonly Box[];
  readonly links: readonly Link[];
}

export interface LayoutResponse {
  readonly id: number;
  readonly layout: Layout;
}

self.onmessage = ({ data }: MessageEvent<LayoutRequest>) => {
  const response: LayoutResponse = { id: data.id, layout: computeLayout(data.boxes, data.links) };
  self.postMessage(response);
};
