/** Shows a name, truncated in the middle, with the full name in the tooltip. */
import { truncateMiddle, visible } from '../format/text';

const MAX_TOOLTIP_LENGTH = 2000;

interface NameProps {
  readonly text: string;
  readonly limit?: number;
  readonly className?: string;
}

/** Names come from outside: `bdi` isolates their text direction, and invisible characters are made visible. */
export function Name({ text, limit = 60, className = '' }: NameProps) {
  const full = visible(text);
  const tooltip = full.length > MAX_TOOLTIP_LENGTH ? `${full.slice(0, MAX_TOOLTIP_LENGTH)}…` : full;
  return (
    <bdi className={`name ${className}`} title={tooltip}>
      {truncateMiddle(full, limit)}
    </bdi>
  );
}
