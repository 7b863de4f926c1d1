/** Table rows for the lineage of a column. */
import type { Column, Fact, LineageGraph } from '../graph/lineageGraph';

export interface LineageRow {
  readonly column: Column;
  /** How the column is connected to the next column toward the focus; a direct fact if there is one. */
  readonly fact: Fact | null;
  readonly factCount: number;
}

/** The facts of each column's edges toward the column in focus. */
function factsByColumn(graph: LineageGraph): Map<string, Fact[]> {
  const facts = new Map<string, Fact[]>();
  for (const edge of graph.edges.values()) {
    const from = graph.columns.get(edge.from);
    const to = graph.columns.get(edge.to);
    if (!from || !to) continue;
    const farther = Math.abs(from.distance) > Math.abs(to.distance) ? from : to;
    facts.set(farther.key, [...(facts.get(farther.key) ?? []), ...edge.facts]);
  }
  return facts;
}

/** One row per column except the one in focus; nearest first, upstream before downstream. */
export function lineageRows(graph: LineageGraph, focus: string | null): LineageRow[] {
  const facts = factsByColumn(graph);
  return [...graph.columns.values()]
    .filter((column) => column.key !== focus && column.field !== '*')
    .sort(
      (a, b) =>
        Math.abs(a.distance) - Math.abs(b.distance) ||
        a.distance - b.distance ||
        a.name.localeCompare(b.name) ||
        a.field.localeCompare(b.field),
    )
    .map((column) => {
      const all = facts.get(column.key) ?? [];
      const direct = all.find((fact) => fact.type === 'DIRECT');
      return { column, fact: direct ?? all[0] ?? null, factCount: all.length };
    });
}
