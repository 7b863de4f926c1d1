/** Rows as CSV (RFC 4180). A cell that a spreadsheet would run as a formula is made text. */

const FORMULA = /^[=+\-@\t\r]/;

function cell(value: string): string {
  const safe = FORMULA.test(value) && Number.isNaN(Number(value)) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** One line of names, then one line a row, each ended by CRLF. */
export function toCsv(heads: readonly string[], rows: Iterable<readonly string[]>): string {
  const lines = [heads, ...rows].map((row) => row.map(cell).join(','));
  return `${lines.join('\r\n')}\r\n`;
}
