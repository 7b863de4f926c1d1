/** The view, i.e. everything that a link to the page contains, and its conversion to and from the query string. */

export const MODES = ['explore', 'personal', 'changes', 'coverage', 'runs', 'quarantine'] as const;
export const DIRECTIONS = ['both', 'up', 'down'] as const;
export const QUESTIONS = ['lineage', 'impact', 'droppable', 'writers'] as const;
export const MAX_DEPTH = 10;

export type Mode = (typeof MODES)[number];
export type Direction = (typeof DIRECTIONS)[number];
export type Question = (typeof QUESTIONS)[number];
export type Side = 'up' | 'down';

/** An expanded card: its table, the side, and the number of neighbour tables shown there. */
export interface Expansion {
  readonly table: string;
  readonly side: Side;
  readonly count: number;
}

/** Each field is a parameter of the query string. Columns, tables and edges are identified by their keys. */
export interface View {
  /** The page that is open. */
  readonly mode: Mode;
  readonly column: string | null;
  readonly tag: string | null;
  readonly direction: Direction;
  readonly depth: number;
  readonly indirect: boolean;
  /** Expanded cards. */
  readonly open: readonly Expansion[];
  /** Tables whose card shows all columns. */
  readonly whole: readonly string[];
  readonly ask: Question;
  readonly asOf: string | null;
  /** Start and end of the comparison on the Changes page. */
  readonly from: string | null;
  readonly to: string | null;
  /** The selected column or edge. */
  readonly pick: string | null;
  /** Marks or gap kinds that the legend hides. */
  readonly hide: readonly string[];
  readonly job: string | null;
  readonly sort: string | null;
  /** Whether the table under the graph is shown. */
  readonly list: boolean;
  /** Whether a small screen shows the graph instead of the table. */
  readonly graph: boolean;
}

export const HOME: View = {
  mode: 'explore',
  column: null,
  tag: null,
  direction: 'both',
  depth: 1,
  indirect: false,
  open: [],
  whole: [],
  ask: 'lineage',
  asOf: null,
  from: null,
  to: null,
  pick: null,
  hide: [],
  job: null,
  sort: null,
  list: true,
  graph: false,
};

interface Field<T> {
  readonly write: (value: T) => readonly string[];
  readonly read: (values: readonly string[]) => T | undefined;
}

const text: Field<string | null> = {
  write: (value) => (value === null ? [] : [value]),
  read: ([value]) => value,
};

const textList: Field<readonly string[]> = { write: (value) => value, read: (values) => values };

const flag = (defaultValue: boolean): Field<boolean> => ({
  write: (value) => (value === defaultValue ? [] : [value ? '1' : '0']),
  read: ([value]) => (value === '1' ? true : value === '0' ? false : undefined),
});

const oneOf = <T extends string>(allowed: readonly T[]): Field<T> => ({
  write: (value) => (value === allowed[0] ? [] : [value]),
  read: ([value]) => allowed.find((each) => each === value),
});

const depth: Field<number> = {
  write: (value) => (value === HOME.depth ? [] : [String(value)]),
  read: ([value]) => {
    const number = Number(value);
    return Number.isInteger(number) && number >= 1 && number <= MAX_DEPTH ? number : undefined;
  },
};

const timestamp: Field<string | null> = {
  write: text.write,
  read: ([value]) => (value !== undefined && !Number.isNaN(Date.parse(value)) ? value : undefined),
};

const expansions: Field<readonly Expansion[]> = {
  write: (value) => value.map(({ table, side, count }) => `${side}.${count}.${table}`),
  read: (values) => values.flatMap(readExpansion),
};

function readExpansion(value: string): Expansion[] {
  const match = /^(up|down)\.(\d{1,4})\.(.+)$/s.exec(value);
  return match ? [{ side: match[1] as Side, count: Number(match[2]), table: match[3] ?? '' }] : [];
}

const FIELDS: { readonly [Name in keyof View]: Field<View[Name]> } = {
  mode: oneOf(MODES),
  column: text,
  tag: text,
  direction: oneOf(DIRECTIONS),
  depth,
  indirect: flag(false),
  open: expansions,
  whole: textList,
  ask: oneOf(QUESTIONS),
  asOf: timestamp,
  from: timestamp,
  to: timestamp,
  pick: text,
  hide: textList,
  job: text,
  sort: text,
  list: flag(true),
  graph: flag(false),
};

const NAMES = Object.keys(FIELDS) as (keyof View)[];

/** Parses a query string. Missing and invalid parameters get their default from `HOME`. */
export function readView(search: string): View {
  const params = new URLSearchParams(search);
  const view: Record<string, unknown> = { ...HOME };
  for (const name of NAMES) {
    const value = params.has(name) ? FIELDS[name].read(params.getAll(name)) : undefined;
    if (value !== undefined) view[name] = value;
  }
  return view as unknown as View;
}

/** The shortest query string for this view; parameters with their default value are left out. */
export function writeView(view: View): string {
  const params = new URLSearchParams();
  for (const name of NAMES) {
    const field = FIELDS[name] as Field<unknown>;
    for (const value of field.write(view[name])) params.append(name, value);
  }
  const text = params.toString();
  return text ? `?${text}` : '';
}
