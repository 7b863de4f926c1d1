/** Writes rows as CSV (RFC 4180). A cell that a spreadsheet would run as a formula is marked as text. */

const FORMULA = /^[=+\-@\t\r]/;

function escapeCell(value: string): string {
  const safe = FORMULA.test(value) && Number.isNaN(Number(value)) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A header line and one line per row, each terminated by CRLF. */
export function toCsv(header: readonly string[], rows: Iterable<readonly string[]>): string {
  const lines = [header, ...rows].map((row) => row.map(escapeCell).join(','));
  return `${lines.join('\r\n')}\r\n`;
}
