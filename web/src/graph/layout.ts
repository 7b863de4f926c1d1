/** Where each card goes. Only tables are laid out; a column is a row of its card, so its place follows. */

export interface Box {
  readonly id: string;
  readonly height: number;
}

export interface Link {
  readonly from: string;
  readonly to: string;
}

export interface Place {
  readonly x: number;
  readonly y: number;
}

export interface Layout {
  readonly places: ReadonlyMap<string, Place>;
  /** For a link that passes over ranks, the height at which it crosses each, by `from→to`. */
  readonly crossings: ReadonlyMap<string, readonly Place[]>;
}

export const CARD_WIDTH = 240;
export const RANK_GAP = 80;
export const CARD_GAP = 24;
const LANE_HEIGHT = 8;
const ORDER_SWEEPS = 8;
const PLACE_SWEEPS = 6;

interface Cell {
  readonly id: string;
  readonly height: number;
  readonly rank: number;
  readonly lane: boolean;
  order: number;
  y: number;
  readonly before: Cell[];
  readonly after: Cell[];
}

export const linkKey = (from: string, to: string) => `${from}→${to}`;

/** Places of all boxes, sources left. Cycles are cut at the link that closes them. */
export function layOut(boxes: readonly Box[], links: readonly Link[]): Layout {
  const known = new Set(boxes.map((box) => box.id));
  const real = links.filter(({ from, to }) => from !== to && known.has(from) && known.has(to));
  const forward = cutCycles(boxes, real);
  const ranks = rankAll(boxes, forward);
  const { cells, lanes } = makeCells(boxes, forward, ranks);
  const columns = byRank(cells);
  order(columns);
  place(columns);
  const places = new Map(boxes.map((box) => [box.id, at(cells.get(box.id))]));
  const crossings = new Map([...lanes].map(([key, list]) => [key, list.map(at)]));
  return { places, crossings };
}

function at(cell: Cell | undefined): Place {
  return { x: (cell?.rank ?? 0) * (CARD_WIDTH + RANK_GAP), y: Math.round(cell?.y ?? 0) };
}

/** The links without those that lead back to a box on the way; depth first, without recursion. */
function cutCycles(boxes: readonly Box[], links: readonly Link[]): Link[] {
  const next = new Map<string, Link[]>(boxes.map((box) => [box.id, []]));
  const entered = new Set(links.map((link) => link.to));
  for (const link of links) next.get(link.from)?.push(link);
  const state = new Map<string, 'open' | 'done'>();
  const kept: Link[] = [];
  const starts = [...boxes].sort((a, b) => Number(entered.has(a.id)) - Number(entered.has(b.id)));
  for (const start of starts) {
    const stack: { id: string; index: number }[] = state.has(start.id) ? [] : [{ id: start.id, index: 0 }];
    if (stack.length) state.set(start.id, 'open');
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const link = next.get(top.id)?.[top.index];
      top.index += 1;
      if (link === undefined) {
        state.set(top.id, 'done');
        stack.pop();
      } else if (state.get(link.to) !== 'open') {
        kept.push(link);
        if (!state.has(link.to)) {
          state.set(link.to, 'open');
          stack.push({ id: link.to, index: 0 });
        }
      }
    }
  }
  return kept;
}

/** Longest way from a source; then each source moves next to the first box it feeds. */
function rankAll(boxes: readonly Box[], links: readonly Link[]): Map<string, number> {
  const waiting = new Map(boxes.map((box) => [box.id, 0]));
  const next = new Map<string, string[]>(boxes.map((box) => [box.id, []]));
  for (const { from, to } of links) {
    waiting.set(to, (waiting.get(to) ?? 0) + 1);
    next.get(from)?.push(to);
  }
  const sources = boxes.map((box) => box.id).filter((id) => waiting.get(id) === 0);
  const ranks = new Map(sources.map((id) => [id, 0]));
  const ready = [...sources];
  for (let id = ready.shift(); id !== undefined; id = ready.shift()) {
    for (const to of next.get(id) ?? []) {
      ranks.set(to, Math.max(ranks.get(to) ?? 0, (ranks.get(id) ?? 0) + 1));
      const left = (waiting.get(to) ?? 1) - 1;
      waiting.set(to, left);
      if (left === 0) ready.push(to);
    }
  }
  for (const id of sources) {
    const targets = (next.get(id) ?? []).map((to) => ranks.get(to) ?? 1);
    if (targets.length) ranks.set(id, Math.min(...targets) - 1);
  }
  return ranks;
}

/** A cell for each box, and a chain of thin lanes for each link that passes over ranks. */
function makeCells(boxes: readonly Box[], links: readonly Link[], ranks: ReadonlyMap<string, number>) {
  const cells = new Map<string, Cell>();
  const lanes = new Map<string, Cell[]>();
  const add = (id: string, height: number, rank: number, lane: boolean): Cell => {
    const cell: Cell = { id, height, rank, lane, order: cells.size, y: 0, before: [], after: [] };
    cells.set(id, cell);
    return cell;
  };
  for (const box of boxes) add(box.id, box.height, ranks.get(box.id) ?? 0, false);
  for (const { from, to } of links) {
    const first = cells.get(from);
    const last = cells.get(to);
    if (!first || !last || lanes.has(linkKey(from, to))) continue;
    const chain: Cell[] = [];
    for (let rank = first.rank + 1; rank < last.rank; rank += 1) {
      chain.push(add(`${linkKey(from, to)}#${rank}`, LANE_HEIGHT, rank, true));
    }
    lanes.set(linkKey(from, to), chain);
    const way = [first, ...chain, last];
    way.slice(1).forEach((cell, index) => {
      const before = way[index];
      if (before) {
        before.after.push(cell);
        cell.before.push(before);
      }
    });
  }
  return { cells, lanes };
}

function byRank(cells: ReadonlyMap<string, Cell>): Cell[][] {
  const columns: Cell[][] = [];
  for (const cell of cells.values()) {
    while (columns.length <= cell.rank) columns.push([]);
    columns[cell.rank]?.push(cell);
  }
  for (const column of columns) renumber(column);
  return columns;
}

function renumber(column: readonly Cell[]): void {
  column.forEach((cell, index) => {
    cell.order = index;
  });
}

function mean(cells: readonly Cell[], value: (cell: Cell) => number): number | null {
  return cells.length ? cells.reduce((sum, cell) => sum + value(cell), 0) / cells.length : null;
}

/** Order inside each rank by the mean order of the neighbours, swept both ways. */
function order(columns: readonly Cell[][]): void {
  for (let sweep = 0; sweep < ORDER_SWEEPS; sweep += 1) {
    const forward = sweep % 2 === 0;
    for (const column of forward ? columns : [...columns].reverse()) {
      const wish = new Map(
        column.map((cell) => [
          cell,
          mean(forward ? cell.before : cell.after, (other) => other.order) ?? cell.order,
        ]),
      );
      column.sort((a, b) => (wish.get(a) ?? 0) - (wish.get(b) ?? 0) || a.order - b.order);
      renumber(column);
    }
  }
}

const middle = (cell: Cell) => cell.y + cell.height / 2;

/** Heights: stacked at first, then each rank moves toward its neighbours, in order and never overlapping. */
function place(columns: readonly Cell[][]): void {
  for (const column of columns) stack(column);
  for (let sweep = 0; sweep < PLACE_SWEEPS; sweep += 1) {
    const forward = sweep % 2 === 0;
    for (const column of forward ? columns : [...columns].reverse()) {
      const wishes = column.map((cell) => {
        const near = sweep < 2 ? (forward ? cell.before : cell.after) : [...cell.before, ...cell.after];
        return (mean(near, middle) ?? middle(cell)) - cell.height / 2;
      });
      settle(column, wishes);
    }
  }
  const top = Math.min(...columns.flat().map((cell) => cell.y), Number.POSITIVE_INFINITY);
  for (const cell of columns.flat()) cell.y -= Number.isFinite(top) ? top : 0;
}

const gap = (a: Cell, b: Cell) => (a.lane || b.lane ? CARD_GAP / 2 : CARD_GAP);

function stack(column: readonly Cell[]): void {
  let y = 0;
  column.forEach((cell, index) => {
    const before = column[index - 1];
    y += before ? before.height + gap(before, cell) : 0;
    cell.y = y;
  });
  for (const cell of column) cell.y -= y / 2;
}

/** The heights nearest to the wishes that keep order and gaps: blocks that collide merge and share the mean wish. */
function settle(column: readonly Cell[], wishes: readonly number[]): void {
  interface Block {
    cells: Cell[];
    offsets: number[];
    total: number;
    y: number;
    height: number;
  }
  const blocks: Block[] = [];
  column.forEach((cell, index) => {
    let block: Block = {
      cells: [cell],
      offsets: [0],
      total: wishes[index] ?? 0,
      y: wishes[index] ?? 0,
      height: cell.height,
    };
    for (let last = blocks.at(-1); last !== undefined; last = blocks.at(-1)) {
      const space = gap(last.cells.at(-1) as Cell, block.cells[0] as Cell);
      if (last.y + last.height + space <= block.y) break;
      blocks.pop();
      const shift = last.height + space;
      const total = last.total + block.total - shift * block.cells.length;
      const cells = [...last.cells, ...block.cells];
      const offsets = [...last.offsets, ...block.offsets.map((offset) => offset + shift)];
      block = { cells, offsets, total, y: total / cells.length, height: shift + block.height };
    }
    blocks.push(block);
  });
  for (const block of blocks) {
    block.cells.forEach((cell, index) => {
      cell.y = block.y + (block.offsets[index] ?? 0);
    });
  }
}
