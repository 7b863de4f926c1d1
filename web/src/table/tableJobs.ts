/** The jobs that write or read a table. */
import type { Dataset, JobRef } from '../api/answers';

/** A job that writes or reads a table. */
export interface TableJob {
  readonly role: 'writes' | 'reads' | 'no longer reads';
  readonly job: JobRef;
  readonly owner: string | null | undefined;
  readonly uses: readonly string[];
  readonly columns: number | null;
  readonly state: string | null | undefined;
  readonly last: string | null | undefined;
}

/** The writers of a table, then its readers, the former ones last. */
export function tableJobs({ writers, readers }: Pick<Dataset, 'writers' | 'readers'>): TableJob[] {
  const reading = readers.map(
    (reader): TableJob => ({
      role: reader.live ? 'reads' : 'no longer reads',
      job: reader,
      owner: reader.owner,
      uses: reader.uses,
      columns: reader.columns,
      state: reader.last_state,
      last: reader.last_read,
    }),
  );
  return [
    ...writers.map(
      (writer): TableJob => ({
        role: 'writes',
        job: writer,
        owner: writer.owner,
        uses: [],
        columns: null,
        state: writer.last_state,
        last: writer.last_success,
      }),
    ),
    ...reading.filter((row) => row.role === 'reads'),
    ...reading.filter((row) => row.role !== 'reads'),
  ];
}
