/** A table on the canvas: its name, the rows on the path, chips for what is hidden. */
import type { Node, NodeProps } from '@xyflow/react';
import { type CSSProperties, memo, useCallback } from 'react';
import { count, countOf, cutMiddle, visible } from '../format/text';
import { ShieldIcon, SumIcon, UnknownIcon } from '../shell/icons';
import { Name } from '../shell/Name';
import { useStore } from '../state/store';
import type { Side } from '../state/url';
import { GROUP } from './budget';
import { type CanvasActions, useActions } from './canvasActions';
import { type Card as CardData, hasFoot, type Row as RowData } from './cards';
import { type Mark, paint } from './highlight';
import { SIGNS } from './labels';

export type CardNode = Node<
  { card: CardData; enter: boolean; origin: { x: number; y: number } | null },
  'card'
>;

const LONG = 28;
/** A title longer than this is set smaller, so that it stays whole. */
const TITLE = 22;

interface RowProps {
  readonly row: RowData;
  readonly mark: Mark | null;
  readonly lit: boolean;
  readonly focused: boolean;
  readonly first: boolean;
  readonly actions: CanvasActions;
}

function rowLabel(row: RowData, mark: Mark | null): string {
  const parts = [
    visible(row.field),
    row.type,
    row.aggregated ? 'aggregated' : null,
    row.masked ? 'masked' : null,
  ];
  return [...parts, mark === null ? null : SIGNS[mark].word].filter(Boolean).join(', ');
}

const Row = memo(function Row({ row, mark, lit, focused, first, actions }: RowProps) {
  const classes = ['row', lit && 'lit', focused && 'focused', !row.onPath && 'off', mark && `mark-${mark}`];
  return (
    <button
      type="button"
      className={classes.filter(Boolean).join(' ')}
      data-row={row.key}
      tabIndex={first ? 0 : -1}
      aria-label={rowLabel(row, mark)}
      title={visible(row.field)}
      onClick={() => actions.pick(row.key)}
      onDoubleClick={() => actions.focus(row.key)}
    >
      <span className="field">{cutMiddle(visible(row.field), LONG)}</span>
      {mark !== null && <span className="sign">{mark === 'masked' ? <ShieldIcon /> : SIGNS[mark].sign}</span>}
      {row.aggregated && <SumIcon />}
      {row.masked && mark === null && <ShieldIcon />}
      <span className="type">{row.type === null ? '' : cutMiddle(visible(row.type), 14)}</span>
    </button>
  );
});

function Chip({ card, side, actions }: { card: CardData; side: Side; actions: CanvasActions }) {
  const hidden = card[side];
  const { expand } = actions;
  if (hidden === 0 || expand === null) return null;
  const word = side === 'up' ? 'upstream' : 'downstream';
  const label = `${card.title}: show ${countOf(hidden, 'more column')} ${word}`;
  return (
    <button
      type="button"
      className={`chip ${side}`}
      aria-label={label}
      title={label}
      tabIndex={-1}
      onClick={() => expand(card.key, side)}
    >
      {side === 'up' ? `‹ ${count(hidden)}` : `${count(hidden)} ›`}
    </button>
  );
}

function footText(card: CardData): string {
  if (card.cut > 0) return `${count(card.cut)} more not shown: narrow with the filter`;
  if (card.whole) return 'only the path';
  return card.more === null ? 'all columns' : `${count(card.more)} more`;
}

function Foot({ card, actions }: { card: CardData; actions: CanvasActions }) {
  if (!hasFoot(card)) return null;
  return (
    <button
      type="button"
      className="foot"
      tabIndex={-1}
      aria-expanded={card.whole}
      onClick={() => actions.whole(card.key)}
    >
      {footText(card)}
    </button>
  );
}

function Filter({ card, actions }: { card: CardData; actions: CanvasActions }) {
  return (
    <input
      className="card-filter nodrag nopan nowheel"
      type="search"
      placeholder="Filter columns"
      aria-label={`filter columns of ${card.title}`}
      onChange={(event) => actions.filter(card.key, event.target.value)}
      onKeyDown={(event) => event.key !== 'Escape' && event.stopPropagation()}
    />
  );
}

function useRowStates(card: CardData) {
  const path = useStore(paint, (value) => value.path);
  const focus = useStore(paint, (value) => value.focus);
  const marks = useStore(paint, (value) => value.rows);
  const dim = path !== null && !card.rows.some((row) => path.columns.has(row.key));
  const lit = useCallback((key: string) => path?.columns.has(key) ?? false, [path]);
  return { dim, lit, focus, marks };
}

export const Card = memo(function Card({ data }: NodeProps<CardNode>) {
  const { card, origin, enter } = data;
  const actions = useActions();
  const { dim, lit, focus, marks } = useRowStates(card);
  const style = { '--from-x': `${origin?.x ?? 0}px`, '--from-y': `${origin?.y ?? 0}px` } as CSSProperties;
  const classes = [
    'card',
    dim && 'dim',
    card.why !== null && 'unknown',
    card.namespace === GROUP && 'group',
    enter && 'enter',
  ]
    .filter(Boolean)
    .join(' ');
  return (
    <section
      className={classes}
      data-layer={card.layer ?? 'none'}
      aria-label={`table ${card.title}`}
      style={style}
    >
      <div className="inside">
        <header>
          <strong className={card.title.length > TITLE ? 'long' : ''}>
            <Name text={card.title} limit={28} />
          </strong>
          <Name className="path" text={card.name} limit={33} />
          {card.why !== null && (
            <span className="why" role="img" aria-label={`unknown: ${card.why}`} title={card.why}>
              <UnknownIcon />
            </span>
          )}
        </header>
        {card.filtered && <Filter card={card} actions={actions} />}
        <div className="rows">
          {card.rows.map((row, index) => (
            <Row
              key={row.key}
              row={row}
              mark={marks.get(row.key) ?? null}
              lit={lit(row.key)}
              focused={focus === row.key}
              first={focus === row.key || (index === 0 && focus === null)}
              actions={actions}
            />
          ))}
        </div>
        <Foot card={card} actions={actions} />
      </div>
      <Chip card={card} side="up" actions={actions} />
      <Chip card={card} side="down" actions={actions} />
    </section>
  );
});
