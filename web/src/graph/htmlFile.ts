/** Writes the answer on screen as one HTML file that needs no server, no script and no other file. */
import { escapeXml, toSvg } from './imageFiles';
import type { Scene } from './shapes';

export interface HtmlReport {
  readonly title: string;
  /** The verdicts of the answer, and as of when. */
  readonly verdict: string;
  /** The page that the report was made from. */
  readonly link: string;
  readonly scene: Scene | null;
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly isDark: boolean;
}

/** A report with more rows would be too large for a mail or a ticket. */
const MAX_ROWS = 2000;

const STYLE = `
body { margin: 24px; font: 14px/1.4 system-ui, sans-serif; color: #18212c; background: #f5f6f8; }
body.dark { color: #e5e9ee; background: #11151a; }
h1 { font-size: 20px; margin: 0 0 4px; }
.picture { overflow: auto; margin: 16px 0; border: 1px solid #8693a366; border-radius: 8px; }
.picture svg { display: block; max-width: 100%; height: auto; }
table { border-collapse: collapse; font-size: 12.5px; }
th, td { text-align: left; padding: 4px 12px 4px 0; border-bottom: 1px solid #8693a366; overflow-wrap: anywhere; }
footer, .muted { opacity: .8; font-size: 12.5px; }
a { color: inherit; }
`;

const cells = (tag: 'th' | 'td', texts: readonly string[]) =>
  texts.map((text) => `<${tag}>${escapeXml(text)}</${tag}>`).join('');

function tableHtml({ header, rows }: HtmlReport): string {
  if (rows.length === 0) return '';
  const lines = rows.slice(0, MAX_ROWS).map((row) => `<tr>${cells('td', row)}</tr>`);
  const more = rows.length > MAX_ROWS ? `<p class="muted">${rows.length - MAX_ROWS} more rows</p>` : '';
  return `<table><thead><tr>${cells('th', header)}</tr></thead>\n<tbody>${lines.join('\n')}</tbody></table>${more}`;
}

/** The report as the text of an HTML file. */
export function toHtml(report: HtmlReport): string {
  const picture = report.scene === null ? '' : `<div class="picture">${toSvg(report.scene)}</div>`;
  const title = escapeXml(report.title);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title><style>${STYLE}</style></head>
<body${report.isDark ? ' class="dark"' : ''}><h1>${title}</h1><p>${escapeXml(report.verdict)}</p>
${picture}
${tableHtml(report)}
<footer><p>Made with colline from <a href="${escapeXml(report.link)}">${escapeXml(report.link)}</a></p></footer>
</body></html>
`;
}
