/** The side panel with the details of the selected column or edge. */
import type { ReactNode } from 'react';
import { count, countOf } from '../format/text';
import type { Column, Edge, LineageGraph } from '../graph/lineageGraph';
import { CopyButton } from '../shell/CopyButton';
import { Icon } from '../shell/icons';
import { TableLink } from '../shell/Links';
import { Name } from '../shell/Name';
import { fullName, jobKey, tableKey } from '../state/names';
import { navigate, openColumn, useView, viewUrl } from '../state/view';
import { Layer } from '../table/cells';
import { ColumnNotes, WriterCode, writerOf } from './ColumnNotes';
import { EdgeFacts } from './EdgeFacts';

const MAX_EDGES = 20;

function ColumnHeader({ column }: { column: Column }) {
  const isTable = column.field === '*';
  return (
    <header>
      {!isTable && (
        <h2 className="mono">
          <Name text={column.field} limit={40} />
        </h2>
      )}
      <p>
        <TableLink table={column} label={column.table} limit={44} /> <Layer name={column.layer} />
      </p>
      <p className="tags">
        {column.type !== null && <span className="tag mono">{column.type}</span>}
        {column.tags.map((tag) => (
          <span key={tag} className="tag">
            <Name text={tag} limit={24} />
          </span>
        ))}
      </p>
    </header>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

interface EdgeListProps {
  readonly edges: readonly Edge[];
  /** The end of the edges at the other column. */
  readonly otherEnd: 'from' | 'to';
  readonly graph: LineageGraph;
}

function EdgeList({ edges, otherEnd, graph }: EdgeListProps) {
  return (
    <>
      {edges.slice(0, MAX_EDGES).map((edge) => (
        <EdgeFacts key={edge.key} edge={edge} otherColumn={graph.columns.get(edge[otherEnd]) ?? null} />
      ))}
      {edges.length > MAX_EDGES && (
        <p className="muted">{count(edges.length - MAX_EDGES)} more in the table</p>
      )}
    </>
  );
}

function Actions({ column }: { column: Column }) {
  const inFocus = useView((view) => view.column) === column.key;
  return (
    <div className="panel-actions">
      {!inFocus && (
        <button type="button" className="primary" onClick={() => openColumn(column.key)}>
          Focus
        </button>
      )}
      <a href={viewUrl({ column: column.key, pick: null })} target="_blank" rel="noreferrer">
        <Icon name="open" /> Open
      </a>
      <CopyButton text={`${fullName(column)}.${column.field}`} label="Name" />
      <CopyButton text={() => location.href} label="Link" />
    </div>
  );
}

/** `3 sources`, or `3 sources, 2 indirect`. */
function edgeCount(edges: readonly Edge[], noun: string): string {
  const direct = edges.filter((edge) => edge.direct).length;
  const indirect = edges.length - direct;
  return indirect === 0 ? countOf(direct, noun) : `${countOf(direct, noun)}, ${count(indirect)} indirect`;
}

function sourcesTitle(edges: readonly Edge[], column: Column): string {
  if (edges.length > 0) return `← ${edgeCount(edges, 'source')}`;
  return column.up ? `← ${countOf(column.up, 'source')}, not shown` : '← takes no value';
}

function targetsTitle(edges: readonly Edge[], column: Column): string {
  if (edges.length > 0) return `→ feeds ${edgeCount(edges, 'column')}`;
  return column.down ? `→ feeds ${countOf(column.down, 'column')}, not shown` : '→ no column takes its value';
}

function ColumnDetails({ column, graph }: { column: Column; graph: LineageGraph }) {
  const edges = [...graph.edges.values()];
  const incoming = edges.filter((edge) => edge.to === column.key);
  const outgoing = edges.filter((edge) => edge.from === column.key);
  const writer = writerOf(incoming);
  return (
    <>
      <ColumnHeader column={column} />
      <ColumnNotes key={tableKey(column)} column={column} />
      <Actions column={column} />
      <Section title={sourcesTitle(incoming, column)}>
        <EdgeList edges={incoming} otherEnd="from" graph={graph} />
      </Section>
      <Section title={targetsTitle(outgoing, column)}>
        <EdgeList edges={outgoing} otherEnd="to" graph={graph} />
      </Section>
      {writer !== null && <WriterCode key={jobKey(writer)} job={writer} />}
    </>
  );
}

function EdgeDetails({ edge, graph }: { edge: Edge; graph: LineageGraph }) {
  const source = graph.columns.get(edge.from);
  const target = graph.columns.get(edge.to);
  return (
    <>
      {source && <ColumnHeader column={source} />}
      <p className="arrow" aria-hidden="true">
        ↓ {edge.direct ? 'direct' : 'indirect'}
      </p>
      <EdgeFacts edge={edge} otherColumn={null} />
      {target && <ColumnHeader column={target} />}
      {target && target.field !== '*' && <Actions column={target} />}
    </>
  );
}

interface DetailPanelProps {
  readonly graph: LineageGraph;
  /** The column to show when nothing is selected. */
  readonly defaultColumn: string | null;
}

export function DetailPanel({ graph, defaultColumn }: DetailPanelProps) {
  const selected = useView((view) => view.pick);
  const edge = selected === null ? undefined : graph.edges.get(selected);
  const column = edge ? undefined : graph.columns.get(selected ?? defaultColumn ?? '');
  if (!edge && !column) return null;
  return (
    <aside className="panel" aria-label="details">
      {selected !== null && (
        <button
          type="button"
          className="close"
          aria-label="Close details"
          onClick={() => navigate({ pick: null })}
        >
          <Icon name="close" />
        </button>
      )}
      {edge && <EdgeDetails edge={edge} graph={graph} />}
      {column && <ColumnDetails column={column} graph={graph} />}
    </aside>
  );
}
