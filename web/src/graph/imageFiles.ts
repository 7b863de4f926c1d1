/** Writes a scene as SVG or PNG. Loads nothing, so that the content security policy allows it. */
import type { Scene, Shape } from './shapes';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** The text with the characters that have a meaning in XML and HTML replaced. */
export const escapeXml = (text: string) => text.replace(/[&<>"]/g, (letter) => ENTITIES[letter] ?? '');

const FONTS = {
  bold: { family: 'system-ui, sans-serif', weight: 600 },
  plain: { family: 'system-ui, sans-serif', weight: 400 },
  mono: { family: 'ui-monospace, monospace', weight: 400 },
} as const;

function svgElement(shape: Shape): string {
  const opacity = shape.opacity === undefined ? '' : ` opacity="${shape.opacity}"`;
  if (shape.kind === 'rect') {
    const stroke =
      shape.stroke === null
        ? ''
        : ` stroke="${shape.stroke}"${shape.dashed ? ' stroke-dasharray="5 4"' : ''}`;
    return `<rect x="${shape.x}" y="${shape.y}" width="${shape.width}" height="${shape.height}" rx="${shape.radius}" fill="${shape.fill}"${stroke}${opacity}/>`;
  }
  if (shape.kind === 'path') {
    const dash = shape.dashed ? ' stroke-dasharray="2 4"' : '';
    const { x, y } = shape.at;
    const moved = x === 0 && y === 0 ? '' : ` transform="translate(${x} ${y})"`;
    return `<path d="${shape.path}" fill="none" stroke="${shape.stroke}" stroke-width="${shape.width}"${dash}${moved}${opacity}/>`;
  }
  const { family, weight } = FONTS[shape.font];
  const anchor = shape.alignRight ? ' text-anchor="end"' : '';
  return `<text x="${shape.x}" y="${shape.y}" fill="${shape.fill}" font-family="${family}" font-weight="${weight}" font-size="${shape.size}"${anchor}${opacity}>${escapeXml(shape.text)}</text>`;
}

/** The scene as SVG text. */
export function toSvg(scene: Scene): string {
  const size = `width="${scene.width}" height="${scene.height}" viewBox="0 0 ${scene.width} ${scene.height}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size}>`,
    `<rect width="100%" height="100%" fill="${scene.background}"/>`,
    `<g transform="translate(${scene.offset.x} ${scene.offset.y})">`,
    ...scene.shapes.map(svgElement),
    '</g></svg>',
  ].join('\n');
}

function drawShape(context: CanvasRenderingContext2D, shape: Shape): void {
  context.globalAlpha = shape.opacity ?? 1;
  if (shape.kind === 'rect') {
    context.beginPath();
    context.roundRect(shape.x, shape.y, shape.width, shape.height, shape.radius);
    context.fillStyle = shape.fill;
    context.fill();
    if (shape.stroke !== null) {
      context.setLineDash(shape.dashed ? [5, 4] : []);
      context.lineWidth = 1;
      context.strokeStyle = shape.stroke;
      context.stroke();
    }
  } else if (shape.kind === 'path') {
    context.setLineDash(shape.dashed ? [2, 4] : []);
    context.lineWidth = shape.width;
    context.strokeStyle = shape.stroke;
    context.translate(shape.at.x, shape.at.y);
    context.stroke(new Path2D(shape.path));
    context.translate(-shape.at.x, -shape.at.y);
  } else {
    const { family, weight } = FONTS[shape.font];
    context.font = `${weight} ${shape.size}px ${family}`;
    context.textAlign = shape.alignRight ? 'right' : 'left';
    context.fillStyle = shape.fill;
    context.fillText(shape.text, shape.x, shape.y);
  }
}

/** Larger canvases fail in some browsers. */
const MAX_SIDE_PX = 12_000;

/** The scene as a PNG at twice the screen resolution, or less when the image would be too large. */
export function toPng(scene: Scene): Promise<Blob> {
  const scale = Math.min(2, MAX_SIDE_PX / Math.max(scene.width, scene.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.ceil(scene.width * scale);
  canvas.height = Math.ceil(scene.height * scale);
  const context = canvas.getContext('2d');
  if (context === null) return Promise.reject(new Error('This browser cannot create a PNG.'));
  context.scale(scale, scale);
  context.fillStyle = scene.background;
  context.fillRect(0, 0, scene.width, scene.height);
  context.translate(scene.offset.x, scene.offset.y);
  for (const shape of scene.shapes) drawShape(context, shape);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The graph is too large for a PNG.')))),
  );
}
