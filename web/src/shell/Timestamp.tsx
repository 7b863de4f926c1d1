/** Shows a time relative to now, with local time and UTC in the tooltip. */
import { localTime, relativeTime, utcTime } from '../format/time';

export function Timestamp({ at, exact = false }: { at: string | null | undefined; exact?: boolean }) {
  if (!at) return <span className="muted">–</span>;
  return (
    <time dateTime={at} title={`${localTime(at)} · ${utcTime(at)}`}>
      {exact ? localTime(at) : relativeTime(at)}
    </time>
  );
}
