/** Buttons that download the table as CSV, the graph as SVG or PNG, and both as one HTML file. */
import { toCsv } from '../format/csv';
import { currentDrawing } from '../graph/currentDrawing';
import { highlightStore } from '../graph/highlight';
import { toHtml } from '../graph/htmlFile';
import { toPng, toSvg } from '../graph/imageFiles';
import { type Palette, type Scene, toScene } from '../graph/shapes';
import type { Drawing } from '../graph/useDrawing';
import { useStore } from '../state/store';
import type { TableColumn } from '../table/tableModel';
import { CopyButton } from './CopyButton';
import { downloadFile, downloadText, safeFileName } from './download';

const LAYERS = ['bronze', 'silver', 'gold', 'platinum', 'none'];
const MARKS = ['clear', 'masked', 'indirect', 'added', 'removed', 'changed', 'source'];

/** The current colors, read from the tokens of the style sheet. */
function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const tokens = (prefix: string, names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, token(`${prefix}${name}`)]));
  return {
    surface: token('surface'),
    background: token('background'),
    text: token('text'),
    muted: token('muted'),
    border: token('border'),
    line: token('line'),
    focus: token('accent-background'),
    marks: { ...tokens('mark-', MARKS), accent: token('accent') },
    layers: tokens('layer-', LAYERS),
  };
}

/** Whether the text is lighter than the background. */
const isDark = () => getComputedStyle(document.documentElement).colorScheme === 'dark';

const currentScene = (drawing: Drawing): Scene => toScene(drawing, highlightStore.get(), readPalette());

function downloadSvg(drawing: Drawing, name: string): void {
  downloadText(safeFileName(name, 'svg'), 'image/svg+xml', toSvg(currentScene(drawing)));
}

async function downloadPng(drawing: Drawing, name: string): Promise<void> {
  downloadFile(safeFileName(name, 'png'), await toPng(currentScene(drawing)));
}

interface ExportButtonsProps<Row> {
  /** File name without extension. */
  readonly name: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  /** The verdict line as text. */
  readonly verdict: string;
}

export function ExportButtons<Row>({ name, columns, rows, verdict }: ExportButtonsProps<Row>) {
  const drawing = useStore(currentDrawing, (value) => value);
  const html = () =>
    toHtml({
      title: name,
      verdict,
      link: location.href,
      scene: drawing === null ? null : currentScene(drawing),
      header: columns.map((column) => column.title),
      rows: rows.map((row) => columns.map((column) => column.text(row))),
      isDark: isDark(),
    });
  const downloadCsv = () => {
    const lines = rows.map((row) => columns.map((column) => column.text(row)));
    const header = columns.map((column) => column.id);
    downloadText(safeFileName(name, 'csv'), 'text/csv', toCsv(header, lines));
  };
  return (
    <>
      <button
        type="button"
        onClick={downloadCsv}
        disabled={rows.length === 0}
        aria-label="Download table as CSV"
      >
        CSV
      </button>
      {drawing !== null && (
        <>
          <button type="button" onClick={() => downloadSvg(drawing, name)} aria-label="Download graph as SVG">
            SVG
          </button>
          <button
            type="button"
            onClick={() => void downloadPng(drawing, name)}
            aria-label="Download graph as PNG"
          >
            PNG
          </button>
        </>
      )}
      <button
        type="button"
        onClick={() => downloadText(safeFileName(name, 'html'), 'text/html', html())}
        aria-label="Download as HTML"
        title="One file with the picture and the table, without a server"
      >
        HTML
      </button>
      <CopyButton text={html} label="HTML" name="Copy as HTML" />
    </>
  );
}
