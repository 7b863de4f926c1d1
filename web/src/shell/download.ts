/** Downloads files that the page creates. */

/** Time for the browser to start the download. */
const URL_LIFETIME_MS = 10_000;

/** Offers `content` as a download. */
export function downloadFile(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), URL_LIFETIME_MS);
}

/** Offers text as a download. CSV starts with a byte order mark, so that spreadsheets read it as UTF-8. */
export function downloadText(name: string, type: string, text: string): void {
  const byteOrderMark = type === 'text/csv' ? '\ufeff' : '';
  downloadFile(name, new Blob([byteOrderMark, text], { type: `${type};charset=utf-8` }));
}

/** A file name with only letters, digits, dots, hyphens and underscores. */
export function safeFileName(name: string, extension: string): string {
  const safe = name.replace(/[^\p{L}\p{N}._-]+/gu, '-').replace(/^[-.]+|[-.]+$/g, '');
  return `${safe.slice(0, 80) || 'lineage'}.${extension}`;
}
