/** Formats timestamps and durations for display. */

/** Seconds per unit, and from how many of them on the unit is used: 13 days are `13d`, 14 days `2w`. */
const UNITS: readonly { readonly unit: string; readonly seconds: number; readonly from: number }[] = [
  { unit: 'y', seconds: 31_557_600, from: 2 },
  { unit: 'mo', seconds: 2_629_800, from: 2 },
  { unit: 'w', seconds: 604_800, from: 2 },
  { unit: 'd', seconds: 86_400, from: 1 },
  { unit: 'h', seconds: 3_600, from: 1 },
  { unit: 'm', seconds: 60, from: 1 },
];

const LOCAL_FORMAT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

/** The age of a time in one unit: `13m`, `3d`; `in 2h` for a later time, `now` below a minute. */
export function relativeTime(timestamp: string, now: number = Date.now()): string {
  const seconds = (now - Date.parse(timestamp)) / 1000;
  if (Number.isNaN(seconds)) return timestamp;
  const found = UNITS.find((each) => Math.abs(seconds) >= each.seconds * each.from);
  if (found === undefined) return 'now';
  const age = `${Math.floor(Math.abs(seconds) / found.seconds)}${found.unit}`;
  return seconds < 0 ? `in ${age}` : age;
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

/** `12 s`, `3 min`, `2.5 h`, `12 days`: how long a history is, in one unit. */
export function historyLength(seconds: number): string {
  if (seconds < 100) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 6_000) return `${Math.round(seconds / 60)} min`;
  if (seconds < 2 * 86_400) return `${(seconds / 3_600).toFixed(1)} h`;
  return `${Math.round(seconds / 86_400).toLocaleString('en-GB')} days`;
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
