/** Buttons that download the table as CSV and the graph as SVG or PNG. */
import { toCsv } from '../format/csv';
import { currentDrawing } from '../graph/currentDrawing';
import { highlightStore } from '../graph/highlight';
import { toPng, toSvg } from '../graph/imageFiles';
import { type Palette, type Scene, toScene } from '../graph/shapes';
import type { Drawing } from '../graph/useDrawing';
import { useStore } from '../state/store';
import type { TableColumn } from '../table/tableModel';
import { downloadFile, downloadText, safeFileName } from './download';

const LAYERS = ['bronze', 'silver', 'gold', 'platinum', 'none'];
const MARKS = ['clear', 'masked', 'indirect', 'added', 'removed', 'changed'];

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
    marks: { ...tokens('mark-', MARKS), accent: token('accent') },
    layers: tokens('layer-', LAYERS),
  };
}

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
}

export function ExportButtons<Row>({ name, columns, rows }: ExportButtonsProps<Row>) {
  const drawing = useStore(currentDrawing, (value) => value);
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
    </>
  );
}
