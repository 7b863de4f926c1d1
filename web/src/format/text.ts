/** Text for people: cut names, counts, words for one and many. */

/** `text` in at most `limit` characters, cut in the middle, where long names differ least. */
export function cutMiddle(text: string, limit: number): string {
  const letters = Array.from(text);
  if (letters.length <= limit) return text;
  const head = Math.ceil((limit - 1) / 2);
  const tail = limit - 1 - head;
  return `${letters.slice(0, head).join('')}…${tail > 0 ? letters.slice(-tail).join('') : ''}`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must become visible
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** `text` with control, zero-width and direction characters made visible, so that a name cannot pose as another. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (letter) =>
    letter < ' '
      ? String.fromCharCode(0x2400 + letter.charCodeAt(0))
      : `‹${letter.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}›`,
  );
}

const COUNT = new Intl.NumberFormat('en-GB');

/** 12345 → `12,345`. */
export function count(number: number): string {
  return COUNT.format(number);
}

/** `1 column`, `14 columns`; a word whose plural is irregular gives it. */
export function countOf(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}
