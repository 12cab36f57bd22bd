/** The colours of VS Code's theme, for what cannot take them from style sheets. */
import { type Rgb, mix } from './colour.js';

let pixel: CanvasRenderingContext2D | undefined;

/** Any colour that CSS knows, on top of a background; `undefined` if it is none. */
function parse(value: string, under: Rgb): Rgb | undefined {
  if (!CSS.supports('color', value)) return undefined;
  pixel ??= Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true })!;
  pixel.clearRect(0, 0, 1, 1);
  pixel.fillStyle = value;
  pixel.fillRect(0, 0, 1, 1);
  const [red, green, blue, alpha] = pixel.getImageData(0, 0, 1, 1).data;
  return mix([red!, green!, blue!], under, alpha! / 255);
}

export interface Theme {
  readonly highContrast: boolean;
  readonly background: Rgb;
  readonly foreground: Rgb;
  /** A variable of the theme without its `--vscode-`; the fallback, if it is not set. */
  colour(name: string, fallback: Rgb): Rgb;
  /** Family and size of the user interface's font, as a canvas takes it. */
  readonly font: string;
}

/** The theme as it is now. */
export function readTheme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string, under: Rgb) => parse(style.getPropertyValue(`--vscode-${name}`).trim(), under);
  const background = read('editor-background', [255, 255, 255]) ?? [255, 255, 255];
  return {
    highContrast: document.body.classList.contains('vscode-high-contrast') || document.body.classList.contains('vscode-high-contrast-light'),
    background,
    foreground: read('foreground', background) ?? [0, 0, 0],
    colour: (name, fallback) => read(name, background) ?? fallback,
    font: `11px ${style.getPropertyValue('--vscode-font-family') || 'sans-serif'}`,
  };
}

/** Calls back, once for each change, after VS Code has put another theme on the page. Returns what ends it. */
export function onThemeChange(listener: () => void): () => void {
  let scheduled = 0;
  const observer = new MutationObserver(() => {
    cancelAnimationFrame(scheduled);
    scheduled = requestAnimationFrame(listener);
  });
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['style'] });
  observer.observe(document.body, { attributes: true, attributeFilter: ['class', 'data-vscode-theme-id', 'data-vscode-theme-kind'] });
  return () => {
    observer.disconnect();
    cancelAnimationFrame(scheduled);
  };
}
