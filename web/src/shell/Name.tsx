/** Shows a name, truncated in the middle, with the full name in the tooltip. */
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
}

/** Names come from outside: `bdi` isolates their text direction, and invisible characters are made visible. */
export function Name({ text, limit = 60, className = '', tooltip, truncates = 'middle' }: NameProps) {
  const full = visible(text);
  const title = tooltip === undefined ? full : visible(tooltip);
  return (
    <bdi
      className={`name ${className}`}
      title={title.length > MAX_TOOLTIP_LENGTH ? `${title.slice(0, MAX_TOOLTIP_LENGTH)}…` : title}
    >
      {truncates === 'end' ? truncateEnd(full, limit) : truncateMiddle(full, limit)}
    </bdi>
  );
}
