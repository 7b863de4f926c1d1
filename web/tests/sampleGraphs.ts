/** Builds small lineage graphs from text: `a.x -> b.y`, `a.x ~> b.y` for an indirect edge, `#` for masking. */
import {
  type Column,
  columnFromName,
  createGraph,
  type Edge,
  edgeKey,
  type Fact,
  type LineageGraph,
} from '../src/graph/lineageGraph';
import { columnKey } from '../src/state/names';

const parseRef = (text: string) => {
  const [name = '', field = ''] = text.split('.');
  return { namespace: 'ns', name, field };
};

export const key = (text: string) => columnKey(parseRef(text));

function createFact(type: Fact['type'], masking: boolean): Fact {
  const history = { firstSeen: null, lastSeen: null, lastRun: null, lastState: null, runs: null };
  return { type, subtype: 'IDENTITY', masking, description: null, job: null, ...history };
}

/** The graph of these lines. `details` overrides fields of single columns, by `table.column`. */
export function sampleGraph(
  lines: readonly string[],
  details: Record<string, Partial<Column>> = {},
): LineageGraph {
  const columns = new Map<string, Column>();
  const edges: Edge[] = [];
  const addColumn = (text: string) => {
    const column = { ...columnFromName(parseRef(text)), ...details[text] };
    columns.set(column.key, column);
    return column.key;
  };
  for (const line of lines) {
    const [left = '', arrow, right, mask] = line.split(' ');
    const from = addColumn(left);
    if (right === undefined) continue;
    const to = addColumn(right);
    const direct = arrow === '->';
    const masking = mask === '#';
    const facts = [createFact(direct ? 'DIRECT' : 'INDIRECT', masking)];
    edges.push({ key: edgeKey(from, to, direct), from, to, direct, masking, facts, change: 'same' });
  }
  return createGraph(columns.values(), edges);
}
