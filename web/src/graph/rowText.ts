/** The texts of a row on a card, truncated so that name, badges and type fit into one line. */
import { truncateMiddle, visible } from '../format/text';
import { CARD_WIDTH, type Row } from './cards';
import type { Mark } from './highlight';

const MAX_TYPE_LENGTH = 14;
/** Stripe and padding of a card. */
const ROW_PADDING_PX = 24;
const BADGE_PX = 20;
const TYPE_GAP_PX = 12;
/** Width of one character at the font size of a row, with a margin for wider fonts. */
const FIELD_CHARACTER_PX = 7.6;
const TYPE_CHARACTER_PX = 7.2;

/** The type, truncated in the middle; empty when it is unknown. */
export const typeText = ({ type }: Pick<Row, 'type'>): string =>
  type === null ? '' : truncateMiddle(visible(type), MAX_TYPE_LENGTH);

/** Number of badges after the name: its mark, aggregation, masking. */
function badgeCount({ aggregated, masked }: Pick<Row, 'aggregated' | 'masked'>, mark: Mark | null): number {
  return Number(mark !== null) + Number(aggregated) + Number(masked && mark === null);
}

/** The name of the column, truncated in the middle to what the type and the badges leave. */
export function fieldText(row: Row, mark: Mark | null): string {
  const type = typeText(row);
  const typeWidth = type === '' ? 0 : type.length * TYPE_CHARACTER_PX + TYPE_GAP_PX;
  const width = CARD_WIDTH - ROW_PADDING_PX - typeWidth - badgeCount(row, mark) * BADGE_PX;
  return truncateMiddle(visible(row.field), Math.floor(width / FIELD_CHARACTER_PX));
}
