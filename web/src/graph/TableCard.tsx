/** The card of a table: its name, its rows, and chips that expand its neighbours. */
import type { Node, NodeProps } from '@xyflow/react';
import { type CSSProperties, type FocusEvent, memo, useState } from 'react';
import { count, countOf, visible } from '../format/text';
import { ShieldIcon, SumIcon, UnknownIcon } from '../shell/icons';
import { TableLink } from '../shell/Links';
import { Name } from '../shell/Name';
import { useStore } from '../state/store';
import type { Side } from '../state/url';
import { type CanvasActions, useActions } from './canvasActions';
import { type Card, footerText, hasFooter, type Row } from './cards';
import { FOLD_NAMESPACE } from './fold';
import { foundStore, highlightStore, hoverStore, type Mark } from './highlight';
import { MARK_LABELS } from './labels';
import type { Point } from './layout';
import { isOnPath } from './path';
import { fieldText, typeText } from './rowText';

/** `origin` is where the animation of a new card starts, relative to its position. */
export type CardNode = Node<{ card: Card; isNew: boolean; origin: Point | null }, 'card'>;

/** A longer title is set in a smaller font. */
const LONG_TITLE_LENGTH = 22;

interface CardRowProps {
  readonly row: Row;
  readonly mark: Mark | null;
  readonly highlighted: boolean;
  readonly inFocus: boolean;
  readonly found: 'current' | 'match' | null;
  readonly tabbable: boolean;
  readonly actions: CanvasActions;
}

function accessibleName(row: Row, mark: Mark | null): string {
  const parts = [
    visible(row.field),
    row.type,
    row.aggregated ? 'aggregated' : null,
    row.masked ? 'masked' : null,
    mark === null ? null : MARK_LABELS[mark].label,
  ];
  return parts.filter(Boolean).join(', ');
}

const CardRow = memo(function CardRow(props: CardRowProps) {
  const { row, mark, highlighted, inFocus, found, tabbable, actions } = props;
  const classes = [
    'row',
    highlighted && 'highlighted',
    inFocus && 'focused',
    found !== null && `found-${found}`,
    !row.onPath && 'off-path',
    mark && `mark-${mark}`,
  ];
  return (
    <button
      type="button"
      className={classes.filter(Boolean).join(' ')}
      data-row={row.key}
      tabIndex={tabbable ? 0 : -1}
      aria-label={accessibleName(row, mark)}
      title={visible(row.field)}
      onClick={() => actions.select(row.key)}
      onDoubleClick={() => actions.openColumn(row.key)}
      onPointerEnter={() => actions.hover(row.key)}
      onPointerLeave={() => actions.hover(null)}
    >
      <span className="field">{fieldText(row, mark)}</span>
      {mark !== null && (
        <span className="symbol">{mark === 'masked' ? <ShieldIcon /> : MARK_LABELS[mark].symbol}</span>
      )}
      {row.aggregated && <SumIcon />}
      {row.masked && mark === null && <ShieldIcon />}
      <span className="type">{typeText(row)}</span>
    </button>
  );
});

interface CardPartProps {
  readonly card: Card;
  readonly actions: CanvasActions;
  /** Whether Tab reaches the controls of the card. */
  readonly tabbable: boolean;
}

const tabIndexOf = (tabbable: boolean) => (tabbable ? 0 : -1);

function ExpandChip({ card, side, actions, tabbable }: CardPartProps & { side: Side }) {
  const hidden = card.hidden[side];
  const { expand } = actions;
  if (hidden === 0 || expand === null) return null;
  const direction = side === 'up' ? 'upstream' : 'downstream';
  const label = `${card.title}: show ${countOf(hidden, 'more column')} ${direction}`;
  return (
    <button
      type="button"
      className={`chip ${side}`}
      aria-label={label}
      title={label}
      tabIndex={tabIndexOf(tabbable)}
      onClick={() => expand(card.key, side)}
    >
      {side === 'up' ? `‹ ${count(hidden)}` : `${count(hidden)} ›`}
    </button>
  );
}

function Footer({ card, actions, tabbable }: CardPartProps) {
  if (!hasFooter(card)) return null;
  return (
    <button
      type="button"
      className="footer"
      tabIndex={tabIndexOf(tabbable)}
      aria-expanded={card.showsAllColumns}
      onClick={() => actions.toggleAllColumns(card.key)}
    >
      {footerText(card)}
    </button>
  );
}

function Filter({ card, actions }: { card: Card; actions: CanvasActions }) {
  return (
    <input
      className="card-filter nodrag nopan nowheel"
      type="search"
      placeholder="Filter columns"
      aria-label={`Filter columns of ${card.title}`}
      onChange={(event) => actions.filter(card.key, event.target.value)}
      onKeyDown={(event) => event.key !== 'Escape' && event.stopPropagation()}
    />
  );
}

function Rows({ card, actions }: { card: Card; actions: CanvasActions }) {
  const path = useStore(highlightStore, (highlight) => highlight.path);
  const focus = useStore(highlightStore, (highlight) => highlight.focus);
  const marks = useStore(highlightStore, (highlight) => highlight.columnMarks);
  const hover = useStore(hoverStore, (value) => value);
  const found = useStore(foundStore, (value) => value);
  const foundState = (key: string) =>
    found.current === key ? 'current' : found.columns.has(key) ? 'match' : null;
  return (
    <div className="rows">
      {card.rows.map((row, index) => (
        <CardRow
          key={row.key}
          row={row}
          mark={marks.get(row.key) ?? null}
          highlighted={(path?.columns.has(row.key) || hover?.columns.has(row.key)) ?? false}
          inFocus={focus === row.key}
          found={foundState(row.key)}
          tabbable={focus === row.key || (index === 0 && focus === null)}
          actions={actions}
        />
      ))}
    </div>
  );
}

function Title({ card, actions, tabbable }: CardPartProps) {
  if (card.namespace === FOLD_NAMESPACE) {
    return (
      <button type="button" className="link unfold nodrag nopan" onClick={() => actions.unfold(card.name)}>
        {card.title}
      </button>
    );
  }
  if (card.isGroup) return <Name text={card.title} limit={32} />;
  return <TableLink table={card} label={card.title} limit={28} tabIndex={tabIndexOf(tabbable)} />;
}

function Header(props: CardPartProps) {
  const { card } = props;
  return (
    <header>
      <strong className={card.title.length > LONG_TITLE_LENGTH ? 'long' : ''}>
        <Title {...props} />
      </strong>
      {card.unknownReason !== null && (
        <span
          className="unknown-reason"
          role="img"
          aria-label={`unknown: ${card.unknownReason}`}
          title={card.unknownReason}
        >
          <UnknownIcon />
        </span>
      )}
    </header>
  );
}

/** Whether a path is highlighted that does not include this card. */
function useDimmed(card: Card): boolean {
  return useStore(highlightStore, ({ path }) => path !== null && !isOnPath(card, path));
}

/** Tab reaches the controls of the card that contains the focus, so that it crosses a large graph in few steps. */
function useFocusInside() {
  const [inside, setInside] = useState(false);
  const onBlur = ({ currentTarget, relatedTarget }: FocusEvent) =>
    setInside(currentTarget.contains(relatedTarget));
  return { inside, onFocus: () => setInside(true), onBlur };
}

export const TableCard = memo(function TableCard({ data }: NodeProps<CardNode>) {
  const { card, origin, isNew } = data;
  const actions = useActions();
  const dimmed = useDimmed(card);
  const onHoverPath = useStore(
    hoverStore,
    (path) => card.rows.length === 0 && path !== null && isOnPath(card, path),
  );
  const hasRows = card.rows.length > 0;
  const { inside, ...focusHandlers } = useFocusInside();
  const parts = { card, actions, tabbable: inside || !hasRows };
  const found = useStore(foundStore, ({ columns, current }) =>
    current === card.key ? 'current' : columns.has(card.key) ? 'match' : null,
  );
  const style = { '--from-x': `${origin?.x ?? 0}px`, '--from-y': `${origin?.y ?? 0}px` } as CSSProperties;
  const classes = [
    'card',
    dimmed && 'dimmed',
    card.unknownReason !== null && 'unknown',
    card.isGroup && 'group',
    onHoverPath && 'on-hover-path',
    found !== null && `found-${found}`,
    isNew && 'new',
  ];
  return (
    <section
      className={classes.filter(Boolean).join(' ')}
      data-layer={card.layer ?? 'none'}
      aria-label={`table ${card.title}`}
      style={style}
      {...focusHandlers}
      onPointerEnter={hasRows ? undefined : () => actions.hover(`${card.key}|*`)}
      onPointerLeave={hasRows ? undefined : () => actions.hover(null)}
    >
      <div className="card-content">
        <Header {...parts} />
        {card.hasFilter && <Filter card={card} actions={actions} />}
        <Rows card={card} actions={actions} />
        <Footer {...parts} />
      </div>
      <ExpandChip {...parts} side="up" />
      <ExpandChip {...parts} side="down" />
    </section>
  );
});
