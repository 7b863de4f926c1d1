/** The side panel: all that is known of the picked column or line, in words that can be copied. */
import type { ReactNode } from 'react';
import { count, countOf } from '../format/text';
import type { Column, Edge, Picture } from '../graph/lineageGraph';
import { Copy } from '../shell/CopyButton';
import { Icon } from '../shell/icons';
import { Name } from '../shell/Name';
import { focus, go, hrefOf, useView } from '../state/view';
import { Layer } from '../table/cells';
import { Facts } from './EdgeFacts';

const fullName = (column: Column) => `${column.namespace}/${column.name}.${column.field}`.replace('//', '/');

function Head({ column }: { column: Column }) {
  return (
    <header>
      <h2 className="mono">
        <Name text={column.field} limit={40} />
      </h2>
      <p>
        <Name text={column.table} limit={44} /> <Layer name={column.layer} />
      </p>
      <p className="muted small">
        <Name text={`${column.namespace} ${column.name}`} limit={64} />
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

const SHOWN = 20;

function Edges({ edges, end, picture }: { edges: readonly Edge[]; end: 'from' | 'to'; picture: Picture }) {
  return (
    <>
      {edges.slice(0, SHOWN).map((edge) => (
        <Facts key={edge.key} edge={edge} other={picture.columns.get(edge[end]) ?? null} />
      ))}
      {edges.length > SHOWN && <p className="muted">{count(edges.length - SHOWN)} more in the list</p>}
    </>
  );
}

function Actions({ column }: { column: Column }) {
  const inFocus = useView((view) => view.column) === column.key;
  return (
    <div className="panel-actions">
      {!inFocus && (
        <button type="button" className="primary" onClick={() => focus(column.key)}>
          Put in the middle
        </button>
      )}
      <a href={hrefOf({ column: column.key, pick: null })} target="_blank" rel="noreferrer">
        <Icon name="open" /> open
      </a>
      <Copy text={fullName(column)} label="name" />
      <Copy text={() => location.href} label="link" />
    </div>
  );
}

/** `3 sources`, or `3 sources, 2 indirect`. */
function counted(edges: readonly Edge[], word: string): string {
  const direct = edges.filter((edge) => edge.direct).length;
  const rest = edges.length - direct;
  return rest === 0 ? countOf(direct, word) : `${countOf(direct, word)}, ${count(rest)} indirect`;
}

function sourcesText(edges: readonly Edge[], column: Column): string {
  if (edges.length > 0) return `← ${counted(edges, 'source')}`;
  return column.up ? `← ${countOf(column.up, 'source')}, not drawn` : '← no source';
}

function feedsText(edges: readonly Edge[], column: Column): string {
  if (edges.length > 0) return `→ feeds ${counted(edges, 'column')}`;
  return column.down ? `→ feeds ${countOf(column.down, 'column')}, not drawn` : '→ feeds nothing';
}

function ColumnPanel({ column, picture }: { column: Column; picture: Picture }) {
  const edges = [...picture.edges.values()];
  const into = edges.filter((edge) => edge.to === column.key);
  const out = edges.filter((edge) => edge.from === column.key);
  return (
    <>
      <Head column={column} />
      <Actions column={column} />
      <Section title={sourcesText(into, column)}>
        <Edges edges={into} end="from" picture={picture} />
      </Section>
      <Section title={feedsText(out, column)}>
        <Edges edges={out} end="to" picture={picture} />
      </Section>
    </>
  );
}

function EdgePanel({ edge, picture }: { edge: Edge; picture: Picture }) {
  const from = picture.columns.get(edge.from);
  const to = picture.columns.get(edge.to);
  return (
    <>
      {from && <Head column={from} />}
      <p className="arrow" aria-hidden="true">
        ↓ {edge.direct ? 'direct' : 'indirect'}
      </p>
      <Facts edge={edge} other={null} />
      {to && <Head column={to} />}
      {to && <Actions column={to} />}
    </>
  );
}

export function Panel({ picture, fallback }: { picture: Picture; fallback: string | null }) {
  const pick = useView((view) => view.pick);
  const edge = pick === null ? undefined : picture.edges.get(pick);
  const column = picture.columns.get(edge ? '' : (pick ?? fallback ?? ''));
  if (!edge && !column) return null;
  return (
    <aside className="panel" aria-label="details">
      {pick !== null && (
        <button type="button" className="close" aria-label="close details" onClick={() => go({ pick: null })}>
          <Icon name="close" />
        </button>
      )}
      {edge ? (
        <EdgePanel edge={edge} picture={picture} />
      ) : (
        column && <ColumnPanel column={column} picture={picture} />
      )}
    </aside>
  );
}
