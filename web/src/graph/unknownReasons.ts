/** Why the lineage of a table is not known, by the short name that answers use. */
import type { Unknown } from '../api/answers';

/** Reasons by what they are about; several reasons for one thing are joined. */
export function unknownTables(unknown: readonly Unknown[]): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>();
  for (const { what, why } of unknown) {
    const known = reasons.get(what);
    reasons.set(what, known === undefined ? why : `${known}; ${why}`);
  }
  return reasons;
}
