/** The head of the page of a table or job: its name, what is known about it, and tabs. */
import type { ReactNode } from 'react';
import { visibleCode } from '../format/text';
import type { View } from '../state/url';
import { useView } from '../state/view';
import { CopyButton } from './CopyButton';
import { ViewLink } from './Links';
import { Name } from './Name';

interface PageHeaderProps {
  /** The overview that the page belongs to. */
  readonly overview: { readonly title: string; readonly to: Partial<View> };
  readonly title: string;
  /** The unique name, in the tooltip and for copying. */
  readonly fullName: string;
  readonly marks?: ReactNode;
  readonly tags?: readonly string[];
  readonly description?: string | null | undefined;
  /** What is known, by title; a fact without a value is not shown. */
  readonly facts: Readonly<Record<string, ReactNode>>;
}

export function Owner({ name }: { name: string | null | undefined }) {
  return name ? <Name text={name} limit={40} /> : <span className="muted">unknown</span>;
}

export function Tags({ tags }: { tags: readonly string[] }) {
  return tags.map((tag) => (
    <span key={tag} className="tag">
      <Name text={tag} limit={24} />
    </span>
  ));
}

export function PageHeader(props: PageHeaderProps) {
  const { overview, title, fullName, marks, tags = [], description, facts } = props;
  return (
    <header className="page-header">
      <h1>
        <ViewLink to={overview.to} className="overview-link">
          {overview.title}
        </ViewLink>
        <span className="muted" aria-hidden="true">
          /
        </span>
        <Name text={title} tooltip={fullName} limit={64} />
        {marks}
        <span className="tags">
          <Tags tags={tags} />
        </span>
        <CopyButton text={fullName} label="Name" />
      </h1>
      {description && <p className="description">{visibleCode(description)}</p>}
      <dl className="page-facts">
        {Object.entries(facts)
          .filter(([, value]) => value !== null && value !== undefined && value !== '')
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
    </header>
  );
}

export interface Tab {
  readonly id: string;
  readonly title: string;
  readonly content: () => ReactNode;
}

/** Links to the tabs of a page, and the content of the open one: that of the view, or the first. */
export function Tabs({ tabs, label }: { tabs: readonly Tab[]; label: string }) {
  const id = useView((view) => view.tab);
  const open = tabs.find((tab) => tab.id === id) ?? tabs[0];
  return (
    <>
      <nav className="tabs" aria-label={label}>
        {tabs.map((tab, index) => (
          <ViewLink
            key={tab.id}
            to={{ tab: index === 0 ? null : tab.id, sort: null, pick: null }}
            current={tab === open}
          >
            {tab.title}
          </ViewLink>
        ))}
      </nav>
      {open?.content()}
    </>
  );
}
