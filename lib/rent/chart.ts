/** Line charts as inline SVG: pure text, no script, readable on paper and in the dark. */

export interface Series {
  readonly label: string;
  /** Ordered by x. Values that are no numbers leave a gap. */
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Chart {
  /** Told to those who cannot see it. */
  readonly title: string;
  readonly xLabel: string;
  readonly series: readonly Series[];
  /** Fixed bounds of y; default: those of the values. */
  readonly yBounds?: readonly [low: number, high: number];
  /** Values of x that are marked on the upper edge. */
  readonly marks?: readonly number[];
}

const width = 760;
const height = 240;
const plot = { left: 56, right: width - 12, top: 12, bottom: height - 34 };
/** Points that a line has at most; more than a screen can show. */
const maxPoints = 600;

/** `text` inside markup. Control characters, which XML forbids, become visible. */
export function escapeMarkup(text: string): string {
  return text.replaceAll(
    // deno-lint-ignore no-control-regex
    /[&<>"'\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    (character) => escapes[character] ?? "\ufffd",
  );
}

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** The chart, or `undefined` when there is nothing to draw. */
export function lineChart(asked: Chart): string | undefined {
  const chart = {
    ...asked,
    series: asked.series.map(({ label, points }) => ({
      label,
      points: points.map(([x, y]) => [x, drawable(y)] as const),
    })),
  };
  const finite = chart.series.flatMap(({ points }) => points).filter(([, y]) => Number.isFinite(y));
  if (finite.length === 0) return undefined;
  const xs = [...finite.map(([x]) => x), ...(chart.marks ?? [])];
  const ys = finite.map(([, y]) => y);
  const [lowest, highest] = chart.yBounds ?? [least(ys), most(ys)];
  // A loss falls by orders of magnitude at first; a linear axis would show a flat line.
  const logarithmic = chart.yBounds === undefined && lowest > 0 && highest / lowest > 50;
  const toY = logarithmic ? Math.log10 : (y: number) => y;
  const x = scale(least(xs), most(xs), plot.left, plot.right);
  const y = scale(toY(lowest), toY(highest), plot.bottom, plot.top);
  const yTicks = logarithmic ? decades(lowest, highest) : ticks(lowest, highest);
  const parts = [
    ...yTicks.map((value) => {
      const at = fixed(y(toY(value)));
      return `<line class="grid" x1="${plot.left}" x2="${plot.right}" y1="${at}" y2="${at}"/>` +
        `<text class="tick" x="${plot.left - 6}" y="${at}" text-anchor="end" dy="0.32em">${
          shortNumber(value)
        }</text>`;
    }),
    ...ticks(least(xs), most(xs)).map((value) =>
      `<text class="tick" x="${fixed(x(value))}" y="${plot.bottom + 16}" text-anchor="middle">${
        shortNumber(value)
      }</text>`
    ),
    `<text class="tick" x="${plot.right}" y="${height - 4}" text-anchor="end">${
      escapeMarkup(chart.xLabel)
    }</text>`,
    ...chart.series.map(({ points }, place) =>
      `<path class="line s${place % 4}" d="${path(points, x, (value) => y(toY(value)))}"/>`
    ),
    ...(chart.marks ?? []).map((value) =>
      `<circle class="mark" cx="${fixed(x(value))}" cy="${plot.top}" r="3"/>`
    ),
  ];
  return `<svg viewBox="0 0 ${width} ${height}" role="img"><title>${escapeMarkup(chart.title)}</title>${
    parts.join("")
  }</svg>`;
}

function path(
  points: Series["points"],
  x: (value: number) => number,
  y: (value: number) => number,
): string {
  let pen = "M";
  let text = "";
  for (const [px, py] of thinned(points)) {
    if (!Number.isFinite(py)) {
      pen = "M";
      continue;
    }
    text += `${pen}${fixed(x(px))} ${fixed(y(py))}`;
    pen = "L";
  }
  // A single point has no length; a short stroke shows it.
  return /^M[^L]*$/.test(text) ? text.replace(/M(\S+ \S+)$/, "M$1h2") : text;
}

/** Of each stretch the lowest and the highest point stay, in their order, so that no peak is lost. */
export function thinned(points: Series["points"]): Series["points"] {
  if (points.length <= maxPoints) return points;
  const stretch = Math.ceil(points.length / (maxPoints / 2));
  const kept: (readonly [number, number])[] = [];
  for (let at = 0; at < points.length; at += stretch) {
    const part = points.slice(at, at + stretch);
    const order = part.map((_, place) => place).sort((a, b) => (part[a]?.[1] ?? 0) - (part[b]?.[1] ?? 0));
    const ends = new Set([order[0], order.at(-1)].filter((place) => place !== undefined));
    for (const place of [...ends].sort((a, b) => a - b)) kept.push(part[place] as readonly [number, number]);
  }
  return kept;
}

function scale(from: number, to: number, start: number, end: number): (value: number) => number {
  return (value) => to === from ? (start + end) / 2 : start + (value - from) / (to - from) * (end - start);
}

/** Round values between two bounds: about five. */
export function ticks(from: number, to: number): number[] {
  if (from === to) return [from];
  const rough = (to - from) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const found: number[] = [];
  for (let count = Math.ceil(from / step); count * step <= to * (1 + 1e-9) && found.length < 20; count++) {
    found.push(count * step);
  }
  return found;
}

function decades(from: number, to: number): number[] {
  const found: number[] = [];
  const span = Math.log10(to / from);
  const stride = Math.ceil(span / 8);
  for (let power = Math.floor(Math.log10(from)); 10 ** power <= to; power += stride) {
    for (const factor of span < 3 ? [1, 2, 5] : [1]) found.push(factor * 10 ** power);
  }
  return found.filter((value) => value >= from && value <= to);
}

/** Beyond these bounds floating-point sums and quotients overflow, and no loss is of use. */
function drawable(value: number): number {
  const size = Math.abs(value);
  return size > 1e100 ? NaN : size < 1e-100 ? 0 : value;
}

/** A number in few characters: `30k`, `0.05`, `1e-7`. */
export function shortNumber(value: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(1).replace(".0e", "e").replace("e+", "e");
  if (size >= 1e4) return `${Number((value / 1000).toPrecision(4))}k`;
  return String(Number(value.toPrecision(4)));
}

function fixed(value: number): string {
  return String(Math.round(value * 10) / 10);
}

// Spread arguments overflow the stack on a long log.
function least(values: readonly number[]): number {
  return values.reduce((a, b) => Math.min(a, b), Infinity);
}

function most(values: readonly number[]): number {
  return values.reduce((a, b) => Math.max(a, b), -Infinity);
}
