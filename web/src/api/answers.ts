/** Types of the server's JSON answers. They list the fields that the page uses; the server may send more. */
import type { ColumnRef, JobRef, TableRef } from '../state/names';

export type { JobRef };

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

/** A column with the number of columns that decide its value by a condition, or that it decides. */
export interface CountedColumn extends ColumnJson {
  readonly up_conditions?: number;
  readonly down_conditions?: number;
}

export interface SchemaColumn extends CountedColumn {
  readonly description?: string | null;
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

/** What a change of columns affects. */
export interface Impact extends Traversal {
  readonly change: string;
  readonly jobs: readonly (Job & {
    readonly distance: number;
    readonly kinds: readonly string[];
    readonly breaks: boolean;
  })[];
  readonly readers: readonly Reader[];
}

export interface Rows<Row> extends Answer {
  readonly rows: readonly Row[];
}

/** Columns that match a name, and tables and jobs that do. */
export interface Found extends Rows<ColumnJson> {
  readonly tables: readonly DatasetJson[];
  readonly jobs: readonly Job[];
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
  readonly owner?: string | null;
  readonly use?: string;
  readonly kind?: string;
  readonly last_read?: string | null;
  /** The column that a job derives from it. */
  readonly into?: ColumnJson;
  /** The column that a query reads. */
  readonly column?: string;
  readonly live?: boolean;
}

export interface Droppable extends ColumnJson {
  readonly verdict: 'yes' | 'no' | 'unknown';
  readonly confidence?: string;
  readonly readers: readonly Reader[];
  readonly retired?: readonly Reader[];
  readonly why?: string | null;
}

/** What "nobody reads it" is based on. */
export interface Evidence {
  readonly since: string;
  readonly until: string;
  readonly seconds: number;
  readonly jobs: number;
  readonly queries: number;
  readonly sources: readonly string[];
  readonly sources_left_out: number;
  readonly not_visible: readonly string[];
}

export interface DroppableAnswer extends Rows<Droppable> {
  readonly evidence: Evidence;
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
  readonly from?: string;
  readonly to?: string;
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
  readonly dataset?: (TableRef & { readonly label?: string }) | null;
  readonly run_id?: string | null;
  readonly detail?: string | null;
  readonly layer?: string | null;
  readonly first_seen?: string | null;
  readonly last_seen?: string | null;
}

export interface Job extends JobRef {
  readonly integration?: string | null;
  readonly owner?: string | null;
  readonly last_run?: string | null;
  readonly last_state?: string | null;
  readonly last_started?: string | null;
  readonly last_ended?: string | null;
  readonly last_success?: string | null;
  readonly last_failure?: string | null;
  readonly last_error?: string | null;
  readonly changed_at?: string | null;
  readonly runs?: number | null;
}

export interface Run {
  readonly run_id: string;
  readonly job?: JobRef | null;
  readonly state: string;
  readonly started?: string | null;
  readonly ended?: string | null;
  readonly seconds?: number | null;
  readonly inputs?: readonly DatasetIdentity[];
  readonly outputs?: readonly DatasetIdentity[];
  readonly last_event?: string | null;
  readonly parent_run?: string | null;
  readonly streaming?: boolean | null;
  readonly integration?: string | null;
  readonly owner?: string | null;
  readonly error?: string | null;
  /** What the run wrote; only an opened run has it. */
  readonly written?: readonly WrittenDataset[];
}

export interface WrittenDataset extends DatasetIdentity {
  readonly rows: number | null;
  readonly bytes: number | null;
  readonly files: number | null;
}

export interface DatasetIdentity extends TableRef {
  readonly label: string;
  readonly layer: string | null;
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
  readonly domain?: string | null;
  readonly tags?: readonly string[];
  readonly symlinks?: readonly string[];
  readonly first_seen?: string | null;
  readonly last_written?: string | null;
  readonly last_read?: string | null;
  readonly dropped_at?: string | null;
  readonly description?: string | null;
  readonly columns?: number;
  readonly upstream?: number;
  readonly downstream?: number;
}

/** A table next to another one: the columns that take part, and the jobs between the two. */
export interface NeighbourTable extends DatasetJson {
  readonly relation: 'direct' | 'indirect';
  readonly jobs: readonly JobRef[];
}

export interface ReadingJob extends Job {
  readonly kind: 'write' | 'query';
  readonly uses: readonly string[];
  readonly columns: number;
  readonly last_read: string | null;
  readonly live: boolean;
}

export interface SchemaVersion {
  readonly first_seen: string | null;
  readonly last_seen: string | null;
  readonly columns: number;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** A table with everything its page shows. */
export interface Dataset extends Answer {
  readonly table: DatasetJson & { readonly id: number };
  readonly columns: readonly SchemaColumn[];
  readonly upstream: readonly NeighbourTable[];
  readonly downstream: readonly NeighbourTable[];
  readonly writers: readonly Job[];
  readonly readers: readonly ReadingJob[];
  readonly schemas: readonly SchemaVersion[];
}

/** A job with everything its page shows. */
export interface JobCard extends Answer {
  readonly job: Job & {
    readonly description: string | null;
    readonly tags: readonly string[];
    readonly sql: string | null;
    readonly location: string | null;
  };
  readonly inputs: readonly DatasetJson[];
  readonly outputs: readonly DatasetJson[];
  readonly runs: readonly Run[];
}

export interface TableEdgeJson {
  readonly from: number;
  readonly to: number;
  readonly type: 'DIRECT' | 'INDIRECT';
  readonly columns: number;
  readonly jobs: readonly (JobRef | null)[];
}

/** Tables upstream or downstream of a table. */
export interface TableTraversal extends Answer {
  readonly datasets: readonly (DatasetJson & { readonly id: number; readonly distance: number })[];
  readonly edges: readonly TableEdgeJson[];
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
