/** The layout, off the page's own thread: a large graph never freezes a key press. */
import { type Box, type Layout, type Link, layOut } from './layout';

export interface LayoutAsked {
  readonly ticket: number;
  readonly boxes: readonly Box[];
  readonly links: readonly Link[];
}

export interface LayoutDone {
  readonly ticket: number;
  readonly layout: Layout;
}

self.onmessage = ({ data }: MessageEvent<LayoutAsked>) => {
  const done: LayoutDone = { ticket: data.ticket, layout: layOut(data.boxes, data.links) };
  self.postMessage(done);
};
