import { type AnsiColour, type AnsiStyle, parseAnsi } from './ansi.js';
import { type Rgb, css, mix, readable } from './colour.js';
import type { Theme } from './theme.js';

const NAMES = ['Black', 'Red', 'Green', 'Yellow', 'Blue', 'Magenta', 'Cyan', 'White'];
/** The usual colours of a terminal, where the theme has none. */
const USUAL: readonly Rgb[] = [
  [0, 0, 0], [205, 49, 49], [13, 188, 121], [229, 229, 16], [36, 114, 200], [188, 63, 188], [17, 168, 205], [229, 229, 229],
  [102, 102, 102], [241, 76, 76], [35, 209, 139], [245, 245, 67], [59, 142, 234], [214, 112, 214], [41, 184, 219], [229, 229, 229],
];

/** Turns styles into colours that can be read on the theme's background, each style once. */
export class AnsiPalette {
  readonly #colours: readonly Rgb[];
  readonly #theme: Theme;
  readonly #ratio: number;

  constructor(theme: Theme) {
    this.#theme = theme;
    this.#ratio = theme.highContrast ? 7 : 4.5;
    this.#colours = USUAL.map((usual, index) => theme.colour(`terminal-ansi${index < 8 ? '' : 'Bright'}${NAMES[index % 8]}`, usual));
  }

  #rgb(colour: AnsiColour | undefined, otherwise: Rgb): Rgb {
    if (colour === undefined) return otherwise;
    return typeof colour === 'number' ? this.#colours[colour]! : colour;
  }

  apply(element: HTMLElement, style: AnsiStyle): void {
    let foreground = this.#rgb(style.foreground, this.#theme.foreground);
    let background = this.#rgb(style.background, this.#theme.background);
    if (style.inverse) [foreground, background] = [background, foreground];
    if (style.dim) foreground = mix(foreground, background, 0.6);
    if (style.foreground !== undefined || style.background !== undefined || style.dim || style.inverse) element.style.color = css(readable(foreground, background, this.#ratio));
    if (style.background !== undefined || style.inverse) element.style.backgroundColor = css(background);
    if (style.bold) element.style.fontWeight = 'bold';
    if (style.italic) element.style.fontStyle = 'italic';
    const lines = [style.underline && 'underline', style.strike && 'line-through'].filter(Boolean).join(' ');
    if (lines) element.style.textDecoration = lines;
  }
}

/** Most runs of one style that become elements: a program that changes colour at every character must not stop the page. */
const SPANS_LIMIT = 20_000;

/** Output of a program as nodes. Its characters become text nodes and nothing else. */
export function ansiNodes(text: string, palette: AnsiPalette): DocumentFragment {
  const fragment = document.createDocumentFragment();
  let spans = 0;
  for (const { text: part, style } of parseAnsi(text)) {
    if (Object.keys(style).length === 0 || spans >= SPANS_LIMIT) {
      fragment.append(part);
      continue;
    }
    const span = document.createElement('span');
    span.textContent = part;
    palette.apply(span, style);
    fragment.append(span);
    spans++;
  }
  return fragment;
}
