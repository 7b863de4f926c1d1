/** Shows a name, truncated in the middle, with the full name in the tooltip. */
import { Fragment } from 'react';
import { truncateEnd, truncateMiddle, visible } from '../format/text';

const MAX_TOOLTIP_LENGTH = 2000;

interface NameProps {
  readonly text: string;
  readonly limit?: number;
  readonly className?: string;
  /** Tooltip, if it is not the name itself. */
  readonly tooltip?: string;
  /** What is left out of a longer text. */
  readonly truncates?: 'middle' | 'end';
  /** Whether the name may continue on the next line, after `_` and `.` rather than inside a word. */
  readonly wraps?: boolean;
}

/** The text with places where a line may break. */
const withBreaks = (text: string) =>
  text.split(/(?<=[_.])/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text
    <Fragment key={index}>
      {part}
      <wbr />
    </Fragment>
  ));

/** Names come from outside: `bdi` isolates their text direction, and invisible characters are made visible. */
export function Name({
  text,
  limit = 60,
  className = '',
  tooltip,
  truncates = 'middle',
  wraps = false,
}: NameProps) {
  const full = visible(text);
  const title = tooltip === undefined ? full : visible(tooltip);
  const shown = truncates === 'end' ? truncateEnd(full, limit) : truncateMiddle(full, limit);
  return (
    <bdi
      className={`name ${className}`}
      title={title.length > MAX_TOOLTIP_LENGTH ? `${title.slice(0, MAX_TOOLTIP_LENGTH)}…` : title}
    >
      {wraps ? withBreaks(shown) : shown}
    </bdi>
  );
}
