/** The view and its one text form, the query string. Everything a link must carry is here, nothing else is. */

export const MODES = ['explore', 'personal', 'changes', 'coverage', 'runs', 'quarantine'] as const;
export const DIRECTIONS = ['both', 'up', 'down'] as const;
export const QUESTIONS = ['lineage', 'impact', 'droppable', 'writers'] as const;
export const MAX_DEPTH = 10;

export type Mode = (typeof MODES)[number];
export type Direction = (typeof DIRECTIONS)[number];
export type Question = (typeof QUESTIONS)[number];
export type Side = 'up' | 'down';

/** A card that was expanded: which table, which side, how many neighbours are shown. */
export interface Expansion {
  readonly table: string;
  readonly side: Side;
  readonly count: number;
}

export interface View {
  readonly mode: Mode;
  readonly column: string | null;
  readonly tag: string | null;
  readonly direction: Direction;
  readonly depth: number;
  readonly indirect: boolean;
  readonly open: readonly Expansion[];
  readonly whole: readonly string[];
  readonly ask: Question;
  readonly asOf: string | null;
  readonly from: string | null;
  readonly to: string | null;
  readonly pick: string | null;
  readonly hide: readonly string[];
  readonly job: string | null;
  readonly sort: string | null;
  readonly list: boolean;
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

const words: Field<readonly string[]> = { write: (value) => value, read: (values) => values };

const flag = (usual: boolean): Field<boolean> => ({
  write: (value) => (value === usual ? [] : [value ? '1' : '0']),
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

const moment: Field<string | null> = {
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
  whole: words,
  ask: oneOf(QUESTIONS),
  asOf: moment,
  from: moment,
  to: moment,
  pick: text,
  hide: words,
  job: text,
  sort: text,
  list: flag(true),
  graph: flag(false),
};

const NAMES = Object.keys(FIELDS) as (keyof View)[];

/** The view that a query string means; what it does not say, or says wrongly, is as at home. */
export function readView(search: string): View {
  const params = new URLSearchParams(search);
  const view: Record<string, unknown> = { ...HOME };
  for (const name of NAMES) {
    const value = params.has(name) ? FIELDS[name].read(params.getAll(name)) : undefined;
    if (value !== undefined) view[name] = value;
  }
  return view as unknown as View;
}

/** The shortest query string that reads back as this view; '' at home. */
export function writeView(view: View): string {
  const params = new URLSearchParams();
  for (const name of NAMES) {
    const field = FIELDS[name] as Field<unknown>;
    for (const value of field.write(view[name])) params.append(name, value);
  }
  const text = params.toString();
  return text ? `?${text}` : '';
}
