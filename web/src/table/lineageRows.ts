/** The rows of a walk: each column with the step that joins it to the nearer one. */
import type { Column, Fact, Picture } from '../graph/lineageGraph';

export interface LineageRow {
  readonly column: Column;
  readonly fact: Fact | null;
  readonly facts: number;
}

/** One row a column of the picture except the one in focus; nearest first, upstream before downstream. */
export function lineageRows(picture: Picture, focus: string | null): LineageRow[] {
  const facts = new Map<string, Fact[]>();
  for (const edge of picture.edges.values()) {
    const from = picture.columns.get(edge.from);
    const to = picture.columns.get(edge.to);
    if (!from || !to) continue;
    // The far end tells the step: upstream that is the source, downstream the target.
    const far = Math.abs(from.distance) > Math.abs(to.distance) ? from : to;
    facts.set(far.key, [...(facts.get(far.key) ?? []), ...edge.facts]);
  }
  return [...picture.columns.values()]
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
      return { column, fact: direct ?? all[0] ?? null, facts: all.length };
    });
}
