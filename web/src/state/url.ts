/** The view, i.e. everything that a link to the page contains, and its conversion to and from path and query string. */

export const MODES = [
  'explore',
  'tables',
  'runs',
  'personal',
  'changes',
  'coverage',
  'quarantine',
  'missing',
] as const;
export const DIRECTIONS = ['both', 'up', 'down'] as const;
export const QUESTIONS = ['lineage', 'impact', 'droppable', 'writers'] as const;
export const GRAINS = ['column', 'table'] as const;
export const SCHEMA_CHANGES = ['drop', 'rename', 'type'] as const;
export const MAX_DEPTH = 10;

export type Mode = (typeof MODES)[number];
export type Direction = (typeof DIRECTIONS)[number];
export type Question = (typeof QUESTIONS)[number];
export type Grain = (typeof GRAINS)[number];
export type SchemaChange = (typeof SCHEMA_CHANGES)[number];
export type Side = 'up' | 'down';

/** An expanded card: its table, the side, and the number of neighbour tables shown there. */
export interface Expansion {
  readonly table: string;
  readonly side: Side;
  readonly count: number;
}

/** Each field is a parameter of the query string. Columns, tables and edges are identified by their keys. */
export interface View {
  /** The page that is open; `missing` for an unknown path. */
  readonly mode: Mode;
  readonly column: string | null;
  readonly tag: string | null;
  readonly direction: Direction;
  /** Hops from the column in focus; null: the whole path. */
  readonly depth: number | null;
  readonly indirect: boolean;
  /** Whether cards show their columns. */
  readonly grain: Grain;
  /** Expanded cards. */
  readonly open: readonly Expansion[];
  /** Tables whose card shows all columns. */
  readonly whole: readonly string[];
  /** Tables that are drawn although they are in the middle of a long path. */
  readonly unfold: readonly string[];
  readonly ask: Question;
  /** The change to the column whose impact is shown. */
  readonly change: SchemaChange;
  readonly asOf: string | null;
  /** Start and end of the comparison on the Changes page. */
  readonly from: string | null;
  readonly to: string | null;
  /** The selected column or edge. */
  readonly pick: string | null;
  /** Marks or gap kinds that the legend hides. */
  readonly hide: readonly string[];
  readonly job: string | null;
  /** The table whose page is open, and the tab of a table or job page. */
  readonly table: string | null;
  readonly tab: string | null;
  /** The run that is open on a job page. */
  readonly run: string | null;
  readonly sort: string | null;
  /** Whether the table under the graph is shown. */
  readonly list: boolean;
  /** Whether the details at the side are shown. */
  readonly panel: boolean;
  /** Whether a small screen shows the graph instead of the table. */
  readonly graph: boolean;
}

export const HOME: View = {
  mode: 'explore',
  column: null,
  tag: null,
  direction: 'both',
  depth: null,
  indirect: false,
  grain: 'column',
  open: [],
  whole: [],
  unfold: [],
  ask: 'lineage',
  change: 'drop',
  asOf: null,
  from: null,
  to: null,
  pick: null,
  hide: [],
  job: null,
  table: null,
  tab: null,
  run: null,
  sort: null,
  list: true,
  panel: true,
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

const depth: Field<number | null> = {
  write: (value) => (value === null ? [] : [String(value)]),
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

/** The path of each page, one segment below the root of the server. The first path of a mode is its overview. */
const PATHS: readonly (readonly [path: string, mode: Mode])[] = [
  ['', 'explore'],
  ['column', 'explore'],
  ['tables', 'tables'],
  ['table', 'tables'],
  ['jobs', 'runs'],
  ['job', 'runs'],
  ['personal-data', 'personal'],
  ['changes', 'changes'],
  ['coverage', 'coverage'],
  ['quarantine', 'quarantine'],
  ['index.html', 'explore'],
];

/** The path of a view's page, without its query string. */
export function pagePath({ mode, column, table, job }: View): string {
  if (mode === 'explore' && column !== null) return 'column';
  if (mode === 'tables' && table !== null) return 'table';
  if (mode === 'runs' && job !== null) return 'job';
  return PATHS.find((each) => each[1] === mode)?.[0] ?? '';
}

const FIELDS: { readonly [Name in keyof View]: Field<View[Name]> } = {
  mode: oneOf(MODES),
  column: text,
  tag: text,
  direction: oneOf(DIRECTIONS),
  depth,
  indirect: flag(false),
  grain: oneOf(GRAINS),
  open: expansions,
  whole: textList,
  unfold: textList,
  ask: oneOf(QUESTIONS),
  change: oneOf(SCHEMA_CHANGES),
  asOf: timestamp,
  from: timestamp,
  to: timestamp,
  pick: text,
  hide: textList,
  job: text,
  table: text,
  tab: text,
  run: text,
  sort: text,
  list: flag(true),
  panel: flag(true),
  graph: flag(false),
};

const NAMES = Object.keys(FIELDS) as (keyof View)[];

/** Parses path and query string. Missing and invalid parameters get their default from `HOME`. */
export function readView(path: string, search: string): View {
  const mode = PATHS.find((each) => each[0] === path)?.[1];
  if (mode === undefined) return { ...HOME, mode: 'missing' };
  const params = new URLSearchParams(search);
  if (mode !== 'explore') params.set('mode', mode);
  const view: Record<string, unknown> = { ...HOME };
  for (const name of NAMES) {
    const value = params.has(name) ? FIELDS[name].read(params.getAll(name)) : undefined;
    if (value !== undefined) view[name] = value;
  }
  return view as unknown as View;
}

/** The shortest URL of this view, relative to the root: its path, and the parameters without their default value. */
export function writeView(view: View): string {
  const params = new URLSearchParams();
  for (const name of NAMES) {
    if (name === 'mode') continue;
    const field = FIELDS[name] as Field<unknown>;
    for (const value of field.write(view[name])) params.append(name, value);
  }
  const text = params.toString();
  return `${pagePath(view)}${text ? `?${text}` : ''}`;
}
