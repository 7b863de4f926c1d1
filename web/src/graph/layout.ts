/** Layered layout of the cards. Only tables are laid out: a column is a row of its card. */

export interface Box {
  readonly id: string;
  readonly height: number;
  /** Layer of the table; a table without a layer and without inputs is a source. */
  readonly layer?: string | null;
}

export interface Link {
  readonly from: string;
  readonly to: string;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Layout {
  /** Top left corner of each box, by id. */
  readonly positions: ReadonlyMap<string, Point>;
  /** For a link that spans several ranks, where it crosses each rank between, by `from→to`. */
  readonly crossings: ReadonlyMap<string, readonly Point[]>;
}

export const CARD_WIDTH = 240;
export const RANK_GAP = 80;
export const CARD_GAP = 24;
const LANE_HEIGHT = 8;
const ORDER_SWEEPS = 8;
const POSITION_SWEEPS = 6;

/** A box, or a lane: the space that a long link takes in a rank that it crosses. */
interface Cell {
  readonly id: string;
  readonly height: number;
  readonly rank: number;
  readonly isLane: boolean;
  order: number;
  y: number;
  readonly before: Cell[];
  readonly after: Cell[];
}

export const linkKey = (from: string, to: string) => `${from}→${to}`;

/** Positions of all boxes, sources on the left. Links that close a cycle do not affect the layout. */
export function computeLayout(boxes: readonly Box[], links: readonly Link[]): Layout {
  const ids = new Set(boxes.map((box) => box.id));
  const valid = links.filter(({ from, to }) => from !== to && ids.has(from) && ids.has(to));
  const acyclic = removeCycles(boxes, valid);
  const ranks = assignRanks(boxes, acyclic);
  const { cells, lanes } = createCells(boxes, acyclic, ranks);
  const columns = groupByRank(cells);
  orderCells(columns);
  positionCells(columns);
  const positions = new Map(boxes.map((box) => [box.id, positionOf(cells.get(box.id))]));
  const crossings = new Map([...lanes].map(([key, chain]) => [key, chain.map(positionOf)]));
  return { positions, crossings };
}

function positionOf(cell: Cell | undefined): Point {
  return { x: (cell?.rank ?? 0) * (CARD_WIDTH + RANK_GAP), y: Math.round(cell?.y ?? 0) };
}

/** The links without those that close a cycle. Depth-first search with an explicit stack. */
function removeCycles(boxes: readonly Box[], links: readonly Link[]): Link[] {
  const outgoing = new Map<string, Link[]>(boxes.map((box) => [box.id, []]));
  const targets = new Set(links.map((link) => link.to));
  for (const link of links) outgoing.get(link.from)?.push(link);
  const state = new Map<string, 'open' | 'done'>();
  const kept: Link[] = [];
  const sourcesFirst = [...boxes].sort((a, b) => Number(targets.has(a.id)) - Number(targets.has(b.id)));
  for (const start of sourcesFirst) {
    const stack: { id: string; index: number }[] = state.has(start.id) ? [] : [{ id: start.id, index: 0 }];
    if (stack.length) state.set(start.id, 'open');
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const link = outgoing.get(top.id)?.[top.index];
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

/** The rank of a box is its longest distance from a source; a source moves next to its first target. */
function assignRanks(boxes: readonly Box[], links: readonly Link[]): Map<string, number> {
  const openInputs = new Map(boxes.map((box) => [box.id, 0]));
  const targets = new Map<string, string[]>(boxes.map((box) => [box.id, []]));
  for (const { from, to } of links) {
    openInputs.set(to, (openInputs.get(to) ?? 0) + 1);
    targets.get(from)?.push(to);
  }
  const sources = boxes.map((box) => box.id).filter((id) => openInputs.get(id) === 0);
  const ranks = new Map(sources.map((id) => [id, 0]));
  const ready = [...sources];
  for (let id = ready.shift(); id !== undefined; id = ready.shift()) {
    for (const to of targets.get(id) ?? []) {
      ranks.set(to, Math.max(ranks.get(to) ?? 0, (ranks.get(id) ?? 0) + 1));
      const remaining = (openInputs.get(to) ?? 1) - 1;
      openInputs.set(to, remaining);
      if (remaining === 0) ready.push(to);
    }
  }
  for (const id of sources) {
    const targetRanks = (targets.get(id) ?? []).map((to) => ranks.get(to) ?? 1);
    if (targetRanks.length) ranks.set(id, Math.min(...targetRanks) - 1);
  }
  moveSourcesLeft(boxes, new Set(sources), ranks);
  return ranks;
}

/** Moves the sources outside the lake left of the bronze tables. */
function moveSourcesLeft(
  boxes: readonly Box[],
  withoutInputs: ReadonlySet<string>,
  ranks: Map<string, number>,
): void {
  const isSource = (box: Box) => box.layer === null && withoutInputs.has(box.id);
  const sources = new Set(boxes.filter(isSource).map((box) => box.id));
  const bronze = boxes.filter((box) => box.layer === 'bronze').map((box) => ranks.get(box.id) ?? 0);
  if (sources.size === 0 || bronze.length === 0) return;
  const firstBronze = Math.min(...bronze);
  const shift = firstBronze === 0 ? 1 : 0;
  for (const { id } of boxes) {
    const rank = (ranks.get(id) ?? 0) + shift;
    ranks.set(id, sources.has(id) ? Math.min(rank - shift, firstBronze + shift - 1) : rank);
  }
}

/** A cell for each box, and a chain of lanes for each link that spans several ranks. */
function createCells(boxes: readonly Box[], links: readonly Link[], ranks: ReadonlyMap<string, number>) {
  const cells = new Map<string, Cell>();
  const lanes = new Map<string, Cell[]>();
  const add = (id: string, height: number, rank: number, isLane: boolean): Cell => {
    const cell: Cell = { id, height, rank, isLane, order: cells.size, y: 0, before: [], after: [] };
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
    connect([first, ...chain, last]);
  }
  return { cells, lanes };
}

function connect(chain: readonly Cell[]): void {
  chain.slice(1).forEach((cell, index) => {
    const before = chain[index] as Cell;
    before.after.push(cell);
    cell.before.push(before);
  });
}

function groupByRank(cells: ReadonlyMap<string, Cell>): Cell[][] {
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

/** Orders the cells of each rank by the mean order of their neighbours (barycenter method), in both directions. */
function orderCells(columns: readonly Cell[][]): void {
  for (let sweep = 0; sweep < ORDER_SWEEPS; sweep += 1) {
    const forward = sweep % 2 === 0;
    for (const column of forward ? columns : [...columns].reverse()) {
      const target = new Map(
        column.map((cell) => [
          cell,
          mean(forward ? cell.before : cell.after, (other) => other.order) ?? cell.order,
        ]),
      );
      column.sort((a, b) => (target.get(a) ?? 0) - (target.get(b) ?? 0) || a.order - b.order);
      renumber(column);
    }
  }
}

const middle = (cell: Cell) => cell.y + cell.height / 2;

/** Sets the vertical positions: stacks each rank, then moves its cells toward their neighbours without overlap. */
function positionCells(columns: readonly Cell[][]): void {
  for (const column of columns) stackCells(column);
  for (let sweep = 0; sweep < POSITION_SWEEPS; sweep += 1) {
    const forward = sweep % 2 === 0;
    for (const column of forward ? columns : [...columns].reverse()) {
      const targets = column.map((cell) => {
        const neighbours = sweep < 2 ? (forward ? cell.before : cell.after) : [...cell.before, ...cell.after];
        return (mean(neighbours, middle) ?? middle(cell)) - cell.height / 2;
      });
      resolveOverlaps(column, targets);
    }
  }
  const top = Math.min(...columns.flat().map((cell) => cell.y), Number.POSITIVE_INFINITY);
  for (const cell of columns.flat()) cell.y -= Number.isFinite(top) ? top : 0;
}

const gapBetween = (a: Cell, b: Cell) => (a.isLane || b.isLane ? CARD_GAP / 2 : CARD_GAP);

function stackCells(column: readonly Cell[]): void {
  let y = 0;
  column.forEach((cell, index) => {
    const before = column[index - 1];
    y += before ? before.height + gapBetween(before, cell) : 0;
    cell.y = y;
  });
  for (const cell of column) cell.y -= y / 2;
}

/** Cells that are moved together; `offsets` are relative to `y`. */
interface Block {
  readonly cells: readonly Cell[];
  readonly offsets: readonly number[];
  /** Sum of the targets of the block's top that its cells ask for. */
  readonly total: number;
  readonly y: number;
  readonly height: number;
}

/** Moves the cells as close to their targets as order and gaps allow. Blocks that overlap are merged. */
function resolveOverlaps(column: readonly Cell[], targets: readonly number[]): void {
  const blocks: Block[] = [];
  column.forEach((cell, index) => {
    const y = targets[index] ?? 0;
    let block: Block = { cells: [cell], offsets: [0], total: y, y, height: cell.height };
    for (let last = blocks.at(-1); last !== undefined; last = blocks.at(-1)) {
      const gap = gapBetween(last.cells.at(-1) as Cell, block.cells[0] as Cell);
      if (last.y + last.height + gap <= block.y) break;
      blocks.pop();
      block = mergeBlocks(last, block, gap);
    }
    blocks.push(block);
  });
  for (const block of blocks) {
    block.cells.forEach((cell, index) => {
      cell.y = block.y + (block.offsets[index] ?? 0);
    });
  }
}

function mergeBlocks(upper: Block, lower: Block, gap: number): Block {
  const shift = upper.height + gap;
  const cells = [...upper.cells, ...lower.cells];
  const offsets = [...upper.offsets, ...lower.offsets.map((offset) => offset + shift)];
  const total = upper.total + lower.total - shift * lower.cells.length;
  return { cells, offsets, total, y: total / cells.length, height: shift + lower.height };
}
