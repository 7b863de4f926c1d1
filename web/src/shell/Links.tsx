/** Links inside the page: they open in a new tab, and otherwise change the view without loading the page again. */
import { createContext, type MouseEvent, type ReactNode, useContext } from 'react';
import { type JobRef, jobKey, shortName, type TableRef, tableKey } from '../state/names';
import type { View } from '../state/url';
import { jobPage, navigate, tablePage, useView, viewUrl } from '../state/view';
import { Name } from './Name';

/** Whether Tab reaches the links inside: in a table, only those of the current row. */
export const LinksTabbable = createContext(true);

interface ViewLinkProps {
  readonly to: Partial<View>;
  readonly className?: string;
  readonly tabIndex?: number;
  readonly current?: boolean;
  readonly children: ReactNode;
}

export function ViewLink({ to, className, tabIndex, current = false, children }: ViewLinkProps) {
  const tabbable = useContext(LinksTabbable);
  const onClick = (event: MouseEvent) => {
    event.stopPropagation();
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    navigate(to);
  };
  return (
    <a
      href={viewUrl(to)}
      className={className}
      tabIndex={tabIndex ?? (tabbable ? undefined : -1)}
      aria-current={current ? 'page' : undefined}
      onClick={onClick}
    >
      {children}
    </a>
  );
}

interface TableLinkProps {
  readonly table: TableRef;
  readonly label?: string | undefined;
  readonly limit?: number;
  readonly tabIndex?: number;
  /** Whether a long name continues on the next line. */
  readonly wraps?: boolean;
}

/** The short name of a table as a link to its page, with the full name in the tooltip. */
export function TableLink({ table, label, limit = 40, tabIndex, wraps = false }: TableLinkProps) {
  useView((view) => view.asOf);
  return (
    <ViewLink
      to={tablePage(tableKey(table))}
      className="table-link nodrag nopan"
      {...(tabIndex !== undefined && { tabIndex })}
    >
      <Name
        text={label ?? shortName(table.name)}
        tooltip={`${table.namespace} ${table.name}`}
        limit={limit}
        wraps={wraps}
      />
    </ViewLink>
  );
}

interface JobLinkProps {
  readonly job: JobRef;
  readonly limit?: number;
  readonly tabIndex?: number;
}

/** The name of a job as a link to its page. */
export function JobLink({ job, limit = 36, tabIndex }: JobLinkProps) {
  useView((view) => view.asOf);
  return (
    <ViewLink to={jobPage(jobKey(job))} className="job-link" {...(tabIndex !== undefined && { tabIndex })}>
      <Name text={job.name} tooltip={`${job.namespace} ${job.name}`} limit={limit} />
    </ViewLink>
  );
}
