/** Colours as numbers, for what is drawn by hand and for text whose colours a program chose. */
export type Rgb = readonly [red: number, green: number, blue: number];

/** Relative luminance, from 0 to 1 (WCAG 2.2). */
function luminance(colour: Rgb): number {
  const [red, green, blue] = colour.map((part) => (part <= 10.31475 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

/** Contrast of two colours, from 1 to 21 (WCAG 2.2). */
export function contrast(one: Rgb, other: Rgb): number {
  const [high, low] = [luminance(one), luminance(other)].sort((left, right) => right - left);
  return (high! + 0.05) / (low! + 0.05);
}

/** `share` of `over` and the rest of `under`. */
export function mix(over: Rgb, under: Rgb, share: number): Rgb {
  return [0, 1, 2].map((index) => Math.round(over[index]! * share + under[index]! * (1 - share))) as unknown as Rgb;
}

/** The colour, or the nearest shade of it towards black or white that can be read on the background, as VS Code's terminal does it. */
export function readable(colour: Rgb, background: Rgb, ratio: number): Rgb {
  if (contrast(colour, background) >= ratio) return colour;
  const [white, black]: [Rgb, Rgb] = [[255, 255, 255], [0, 0, 0]];
  const target = contrast(white, background) > contrast(black, background) ? white : black;
  for (let share = 0.1; share < 1; share += 0.1) {
    const shade = mix(target, colour, share);
    if (contrast(shade, background) >= ratio) return shade;
  }
  return target;
}

export function css([red, green, blue]: Rgb, alpha = 1): string {
  return `rgb(${red} ${green} ${blue} / ${alpha})`;
}
