/** Files that leave the page by the browser's own download. */

/** Offers `content` as a file called `name`. */
export function save(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Offers text as a file; CSV gets a mark so that spreadsheets read it as UTF-8. */
export function saveText(name: string, type: string, text: string): void {
  const mark = type === 'text/csv' ? '\ufeff' : '';
  save(name, new Blob([mark, text], { type: `${type};charset=utf-8` }));
}

/** A file name without anything a file system minds. */
export function fileName(subject: string, ending: string): string {
  const safe = subject.replace(/[^\p{L}\p{N}._-]+/gu, '-').replace(/^[-.]+|[-.]+$/g, '');
  return `${safe.slice(0, 80) || 'lineage'}.${ending}`;
}
