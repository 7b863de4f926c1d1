/** Formats timestamps and durations for display. */

const UNITS_IN_SECONDS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

const RELATIVE_FORMAT = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const LOCAL_FORMAT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

/** `3 days ago`, `in 2 hours`, `just now`. */
export function relativeTime(timestamp: string, now: number = Date.now()): string {
  const seconds = (Date.parse(timestamp) - now) / 1000;
  if (Number.isNaN(seconds)) return timestamp;
  const unit = UNITS_IN_SECONDS.find(([, size]) => Math.abs(seconds) >= size);
  return unit ? RELATIVE_FORMAT.format(Math.round(seconds / unit[1]), unit[0]) : 'just now';
}

/** `15 Nov 2026, 20:41` in the time zone of the browser. */
export function localTime(timestamp: string): string {
  const time = Date.parse(timestamp);
  return Number.isNaN(time) ? timestamp : LOCAL_FORMAT.format(time);
}

/** `2026-11-15 20:41:36 UTC`. */
export function utcTime(timestamp: string): string {
  const time = Date.parse(timestamp);
  return Number.isNaN(time)
    ? timestamp
    : `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
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

/** The value of a `datetime-local` input for a timestamp, in local time; empty for null. */
export function toInputValue(timestamp: string | null): string {
  const time = timestamp === null ? Number.NaN : Date.parse(timestamp);
  if (Number.isNaN(time)) return '';
  const shifted = new Date(time - new Date(time).getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}

/** The UTC timestamp of a `datetime-local` input's value; null when it is empty or invalid. */
export function fromInputValue(value: string): string | null {
  const time = Date.parse(value);
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}
