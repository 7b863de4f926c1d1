/** Moments for people: relative at first sight, local when asked, UTC on hover. */

const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const LOCAL = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

/** `3 days ago`, `in 2 hours`, `just now`. */
export function relative(moment: string, now: number = Date.now()): string {
  const seconds = (Date.parse(moment) - now) / 1000;
  if (Number.isNaN(seconds)) return moment;
  const step = STEPS.find(([, size]) => Math.abs(seconds) >= size);
  return step ? RELATIVE.format(Math.round(seconds / step[1]), step[0]) : 'just now';
}

/** `15 Nov 2026, 20:41` in the reader's own time zone. */
export function local(moment: string): string {
  const time = Date.parse(moment);
  return Number.isNaN(time) ? moment : LOCAL.format(time);
}

/** `2026-11-15 20:41:36 UTC`. */
export function utc(moment: string): string {
  const time = Date.parse(moment);
  return Number.isNaN(time) ? moment : `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** `950 ms`, `12 s`, `4 min 10 s`, `3 h 20 min`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 ? `${minutes} min ${seconds % 60} s` : `${minutes} min`;
  return minutes % 60 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${minutes / 60} h`;
}

/** The value a `datetime-local` field shows for a moment, in local time; '' for none. */
export function toField(moment: string | null): string {
  const time = moment === null ? Number.NaN : Date.parse(moment);
  if (Number.isNaN(time)) return '';
  const shifted = new Date(time - new Date(time).getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}

/** The moment, in UTC, that a `datetime-local` field's value means; null when it is empty or wrong. */
export function fromField(value: string): string | null {
  const time = Date.parse(value);
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}
