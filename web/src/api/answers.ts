/** Types of the server's JSON answers. They list the fields that the page uses; the server may send more. */
import type { ColumnRef, TableRef } from '../state/names';

export interface JobRef {
  readonly namespace: string;
  readonly name: string;
}

export interface ColumnJson extends ColumnRef {
  readonly id?: number;
  readonly label?: string;
  readonly type?: string | null;
  readonly tags?: readonly string[];
  readonly layer?: string | null;
  readonly up?: number;
  readonly down?: number;
  readonly distance?: number;
  readonly relation?: 'direct' | 'indirect';
  readonly masked?: boolean;
  readonly kinds?: readonly string[];
  readonly match?: string;
}

export interface EdgeJson {
  readonly from: number;
  readonly to: number;
  readonly type: 'DIRECT' | 'INDIRECT';
  readonly subtype?: string | null;
  readonly masking?: boolean;
  readonly job?: JobRef | null;
  readonly description?: string | null;
  readonly first_seen?: string | null;
  readonly last_seen?: string | null;
  readonly last_run?: string | null;
  readonly last_state?: string | null;
  readonly runs?: number | null;
}

export interface Unknown {
  readonly what: string;
  readonly why: string;
  readonly count?: number;
}

/** Fields of every paged answer. */
export interface Answer {
  readonly question: string;
  readonly as_of: string | null;
  readonly verdict: string;
  readonly totals: Readonly<Record<string, number>>;
  readonly unknown?: readonly Unknown[];
  readonly left_out: number;
  readonly cursor: string | null;
}

export interface Traversal extends Answer {
  readonly of: readonly ColumnJson[];
  readonly columns: readonly ColumnJson[];
  readonly edges: readonly EdgeJson[];
}

export interface Rows<Row> extends Answer {
  readonly rows: readonly Row[];
}

export type Verdict = 'clear' | 'masked' | 'indirect';

export interface Landing extends ColumnJson {
  readonly verdict: Verdict;
  readonly hop?: number | null;
  readonly job?: JobRef | null;
  readonly exit?: boolean | string | null;
  readonly violation?: boolean;
}

export interface Pii extends Answer {
  readonly of: readonly ColumnJson[];
  readonly landings: readonly Landing[];
  readonly columns?: readonly ColumnJson[];
  readonly edges?: readonly EdgeJson[];
}

export interface Reader {
  readonly job?: JobRef | null;
  readonly use?: string;
  readonly kind?: string;
  readonly last_read?: string | null;
}

export interface Droppable extends ColumnJson {
  readonly verdict: 'yes' | 'no' | 'unknown';
  readonly readers: readonly Reader[];
  readonly retired?: readonly Reader[];
  readonly why?: string | null;
}

export interface Writer {
  readonly job: Job;
  readonly definition?: string | null;
  readonly conflict?: boolean;
}

/** An added, removed or changed edge, column or dataset. `kind` decides which fields are set. */
export interface ChangeJson {
  readonly kind: string;
  readonly source?: ColumnRef;
  readonly target?: ColumnRef;
  readonly namespace?: string;
  readonly name?: string;
  readonly field?: string;
  readonly job?: JobRef | null;
  readonly first_seen?: string | null;
  readonly last_seen?: string | null;
  readonly retired_at?: string | null;
  readonly type?: 'DIRECT' | 'INDIRECT';
  readonly subtype?: string | null;
  readonly masking?: boolean;
  readonly description?: string | null;
  readonly before?: EdgeJson;
  readonly after?: EdgeJson;
}

export interface Diff extends Answer {
  readonly added: readonly ChangeJson[];
  readonly removed: readonly ChangeJson[];
  readonly changed: readonly ChangeJson[];
}

export interface RecentChange {
  readonly when: string;
  readonly change: 'added' | 'removed';
  readonly source: ColumnRef;
  readonly target: ColumnRef;
  readonly job?: JobRef | null;
}

export interface Coverage extends Rows<Gap> {
  readonly by?: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

export interface Gap {
  readonly kind: string;
  readonly job?: JobRef | null;
  readonly dataset?: TableRef | null;
  readonly run_id?: string | null;
  readonly detail?: string | null;
  readonly layer?: string | null;
  readonly first_seen?: string | null;
  readonly last_seen?: string | null;
}

export interface Job extends JobRef {
  readonly integration?: string | null;
  readonly last_run?: string | null;
  readonly last_state?: string | null;
  readonly last_started?: string | null;
  readonly last_ended?: string | null;
  readonly last_success?: string | null;
  readonly last_error?: string | null;
  readonly runs?: number | null;
}

export interface Run {
  readonly run_id: string;
  readonly job?: JobRef | null;
  readonly state: string;
  readonly started?: string | null;
  readonly ended?: string | null;
  readonly error?: string | null;
}

export interface Quarantined {
  readonly reason: string;
  readonly detail?: string | null;
  readonly line?: string | null;
  readonly file?: string | null;
  readonly position?: number | null;
  readonly quarantined_at?: string | null;
}

export interface LayerJson {
  readonly layer: string | null;
  readonly datasets: number;
  readonly columns: number;
  readonly tagged?: number;
}

export interface Overview {
  readonly as_of?: string | null;
  readonly layers: readonly LayerJson[];
  readonly flows: readonly {
    readonly from: string | null;
    readonly to: string | null;
    readonly edges: number;
  }[];
  readonly recent: readonly RecentChange[];
  readonly examples: readonly ColumnJson[];
  readonly health: Readonly<Record<string, unknown>>;
}

export interface DatasetJson extends TableRef {
  readonly label?: string;
  readonly kind?: string | null;
  readonly layer?: string | null;
  readonly owner?: string | null;
  readonly last_written?: string | null;
  readonly columns?: number;
}

export interface Dataset {
  readonly dataset: DatasetJson;
  readonly columns: readonly ColumnJson[];
}

export interface Status {
  readonly version: string;
  readonly snapshot: string | number | null;
  readonly as_of: string | null;
  readonly ready: boolean;
  readonly receiver: Readonly<Record<string, number | string | null>>;
  readonly ingest: Readonly<Record<string, number | string | boolean | null>>;
  readonly health?: Readonly<Record<string, unknown>> | null;
}
