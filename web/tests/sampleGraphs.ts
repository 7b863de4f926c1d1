/** Small pictures written as lines of text: `a.x -> b.y`, `a.x ~> b.y` for an indirect edge, `#` masks. */
import {
  bareColumn,
  type Column,
  type Edge,
  edgeKey,
  type Fact,
  type Picture,
  pictureOf,
} from '../src/graph/lineageGraph';
import { columnKey } from '../src/state/names';

const refOf = (text: string) => {
  const [name = '', field = ''] = text.split('.');
  return { namespace: 'ns', name, field };
};

export const key = (text: string) => columnKey(refOf(text));

export function fact(type: Fact['type'] = 'DIRECT', masking = false, subtype = 'IDENTITY'): Fact {
  const seen = { firstSeen: null, lastSeen: null, lastRun: null, lastState: null, runs: null };
  return { type, subtype, masking, description: null, job: null, ...seen };
}

export function picture(lines: readonly string[], facts: Record<string, Partial<Column>> = {}): Picture {
  const columns = new Map<string, Column>();
  const edges: Edge[] = [];
  const add = (text: string) => {
    const column = { ...bareColumn(refOf(text)), ...facts[text] };
    columns.set(column.key, column);
    return column.key;
  };
  for (const line of lines) {
    const [left = '', arrow, right, mask] = line.split(' ');
    if (right === undefined) {
      add(left);
      continue;
    }
    const direct = arrow === '->';
    const [from, to] = [add(left), add(right)];
    const one = fact(direct ? 'DIRECT' : 'INDIRECT', mask === '#');
    edges.push({
      key: edgeKey(from, to, direct),
      from,
      to,
      direct,
      masking: one.masking,
      facts: [one],
      change: 'same',
    });
  }
  return pictureOf(columns.values(), edges);
}
