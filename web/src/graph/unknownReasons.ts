/** Why the lineage of a table is unknown. */
import type { Unknown } from '../api/answers';

/** The reasons by table, as named in the answer; several reasons for one table are joined. */
export function reasonsByTable(unknown: readonly Unknown[]): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>();
  for (const { what, why } of unknown) {
    const known = reasons.get(what);
    reasons.set(what, known === undefined ? why : `${known}; ${why}`);
  }
  return reasons;
}
