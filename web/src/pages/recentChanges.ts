/** Which changes the home page lists. */
import type { Overview, RecentChange } from '../api/answers';

/** Whether the lake has lineage from its first ingest only: its table of edges has one version. */
export function isNewLake({ health }: Pick<Overview, 'health'>): boolean {
  const versions = health.tables as Readonly<Record<string, number>> | undefined;
  return versions?.['gold/edges'] === 0;
}

/** The removed edges, and those added at the same time: these edges replace others. */
export function changesOfKnownEdges(changes: readonly RecentChange[]): readonly RecentChange[] {
  const removals = new Set(changes.filter((each) => each.change === 'removed').map((each) => each.when));
  return changes.filter((each) => removals.has(each.when));
}
