/** Buttons that save what is on screen: the list as CSV, the drawing as SVG or PNG. */
import { toCsv } from '../format/csv';
import { drawn } from '../graph/currentDrawing';
import { type Paint, paint } from '../graph/highlight';
import { toPng, toSvg } from '../graph/imageFiles';
import { type Palette, toScene } from '../graph/shapes';
import type { Drawing } from '../graph/useDrawing';
import { useStore } from '../state/store';
import type { Head } from '../table/tableModel';
import { fileName, save, saveText } from './download';

const LAYERS = ['bronze', 'silver', 'gold', 'platinum', 'none'];
const MARKS = ['clear', 'masked', 'indirect', 'added', 'removed', 'changed', 'accent'];

/** The colours in use now, read from the style sheet's tokens. */
function palette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const group = (names: readonly string[], before: string) =>
    Object.fromEntries(names.map((name) => [name, token(`${before}${name}`)]));
  return {
    surface: token('surface'),
    background: token('background'),
    text: token('text'),
    muted: token('muted'),
    border: token('border'),
    line: token('line'),
    marks: { ...group(MARKS, 'mark-'), accent: token('accent') },
    layers: group(LAYERS, 'layer-'),
  };
}

function saveSvg(drawing: Drawing, painted: Paint, subject: string): void {
  const { scene, dx, dy } = toScene(drawing, painted, palette());
  saveText(fileName(subject, 'svg'), 'image/svg+xml', toSvg(scene, dx, dy));
}

async function savePng(drawing: Drawing, painted: Paint, subject: string): Promise<void> {
  const { scene, dx, dy } = toScene(drawing, painted, palette());
  save(fileName(subject, 'png'), await toPng(scene, dx, dy));
}

interface ExportProps<Row> {
  readonly subject: string;
  readonly heads: readonly Head<Row>[];
  readonly rows: readonly Row[];
}

export function Export<Row>({ subject, heads, rows }: ExportProps<Row>) {
  const drawing = useStore(drawn, (value) => value);
  const csv = () => {
    const lines = rows.map((row) => heads.map((head) => head.text(row)));
    const names = heads.map((head) => head.id);
    saveText(fileName(subject, 'csv'), 'text/csv', toCsv(names, lines));
  };
  return (
    <>
      <button type="button" onClick={csv} disabled={rows.length === 0} aria-label="save the list as CSV">
        CSV
      </button>
      {drawing !== null && (
        <>
          <button
            type="button"
            onClick={() => saveSvg(drawing, paint.get(), subject)}
            aria-label="save the graph as SVG"
          >
            SVG
          </button>
          <button
            type="button"
            onClick={() => void savePng(drawing, paint.get(), subject)}
            aria-label="save the graph as PNG"
          >
            PNG
          </button>
        </>
      )}
    </>
  );
}
