/** Names and moments as people read them; the whole is in the tooltip. */
import { cutMiddle, visible } from '../format/text';
import { local, relative, utc } from '../format/time';

interface NameProps {
  readonly text: string;
  readonly limit?: number;
  readonly className?: string;
}

/** A name cut in the middle. It comes from strangers: direction is isolated and unseen characters are shown. */
export function Name({ text, limit = 60, className = '' }: NameProps) {
  const whole = visible(text);
  return (
    <bdi className={`name ${className}`} title={whole.length > 2000 ? `${whole.slice(0, 2000)}…` : whole}>
      {cutMiddle(whole, limit)}
    </bdi>
  );
}

/** A moment: relative in sight, local and UTC on hover; a dash for none. */
export function Moment({ at, exact = false }: { at: string | null | undefined; exact?: boolean }) {
  if (!at) return <span className="muted">–</span>;
  return (
    <time dateTime={at} title={`${local(at)} · ${utc(at)}`}>
      {exact ? local(at) : relative(at)}
    </time>
  );
}
