/** Formats names and counts for display. */

/** `text` with at most `limit` characters. The middle is replaced by `…`, since long names differ at their ends. */
export function truncateMiddle(text: string, limit: number): string {
  const characters = Array.from(text);
  if (characters.length <= limit) return text;
  const head = Math.ceil((limit - 1) / 2);
  const tail = limit - 1 - head;
  return `${characters.slice(0, head).join('')}…${tail > 0 ? characters.slice(-tail).join('') : ''}`;
}

/** `text` with each word of at most `limit` characters; longer words lose their middle. */
export const truncateWords = (text: string, limit: number): string =>
  text
    .split(' ')
    .map((word) => truncateMiddle(word, limit))
    .join(' ');

/** `text` with at most `limit` characters. The end is replaced by `…`: an error begins with what went wrong. */
export function truncateEnd(text: string, limit: number): string {
  const characters = Array.from(text);
  return characters.length <= limit ? text : `${characters.slice(0, limit - 1).join('')}…`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to make visible
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Makes control, zero-width and direction characters visible, so that a name cannot imitate another one. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (character) =>
    character < ' '
      ? String.fromCharCode(0x2400 + character.charCodeAt(0))
      : `‹${character.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}›`,
  );
}

/** `visible` for longer texts such as code: line breaks and tabs stay. */
export const visibleCode = (code: string) =>
  code
    .split(/(\r?\n|\t)/)
    .map(keepBreak)
    .join('');

const keepBreak = (part: string, index: number) => (index % 2 === 1 ? part : visible(part));

const NUMBER_FORMAT = new Intl.NumberFormat('en-GB');

/** 12345 → `12,345`. */
export function count(number: number): string {
  return NUMBER_FORMAT.format(number);
}

const BYTE_UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** `4.5 kB`, `950 bytes`: a size in steps of 1,000. */
export function byteSize(bytes: number): string {
  const step = Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const value = bytes / 1000 ** step;
  return `${step === 0 || value >= 100 ? count(Math.round(value)) : value.toFixed(1)} ${BYTE_UNITS[step]}`;
}

/** `1 column`, `14 columns`. An irregular plural is passed as `plural`. */
export function countOf(number: number, singular: string, plural = `${singular}s`): string {
  return `${count(number)} ${number === 1 ? singular : plural}`;
}
