/** Links inside the page: they open in a new tab, and otherwise change the view without loading the page again. */
import type { MouseEvent, ReactNode } from 'react';
import { type JobRef, jobKey, shortName, type TableRef, tableKey } from '../state/names';
import type { View } from '../state/url';
import { jobPage, navigate, tablePage, useView, viewUrl } from '../state/view';
import { Name } from './Name';

interface ViewLinkProps {
  readonly to: Partial<View>;
  readonly className?: string;
  readonly tabIndex?: number;
  readonly current?: boolean;
  readonly children: ReactNode;
}

export function ViewLink({ to, className, tabIndex, current = false, children }: ViewLinkProps) {
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
      tabIndex={tabIndex}
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
}

/** The short name of a table as a link to its page, with the full name in the tooltip. */
export function TableLink({ table, label, limit = 40, tabIndex }: TableLinkProps) {
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
