import type { GrowthPlot, GrowthPoint } from "./report.ts";

interface Line {
  readonly label: string;
  readonly points: readonly GrowthPoint[];
}

/** What an image shows, with its lines' points. */
export interface DrawnPlot extends Omit<GrowthPlot, "lines"> {
  readonly lines: readonly Line[];
}

const width = 760;
const height = 420;
const left = 72;
// Room for the lines' names behind their last points.
const right = 170;
const top = 56;
const bottom = 64;
const labelHeight = 16;
// Told apart without red and green, on white and on near black alike.
const light = ["#0b63c4", "#a65a00", "#7a2e9e", "#0a7a6c"];
const dark = ["#6cb2ff", "#ffb454", "#d59bf6", "#4fd6c4"];

/**
 * Points over sizes as an SVG image, both axes logarithmic, so that what doubles with its cause is a line with the slope of the
 * dashed one, and what does not grow lies flat. Readable on light and dark pages; values are tooltips.
 */
export function growthPlot({ axis, title, unit, lines }: DrawnPlot): string {
  const drawn = lines.filter(({ points }) => points.length > 0);
  const all = drawn.flatMap(({ points }) => points);
  const x = scale(
    all.map(({ size }) => size),
    left,
    width - right,
  );
  const y = scale(
    all.map(({ value }) => value),
    height - bottom,
    top,
  );
  const labels = spread(drawn.map(({ points }) => y.place(points.at(-1)?.value ?? 1)));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="13">`,
    `<title>${title}</title>`,
    `<style>${style()}</style>`,
    `<rect class="page" width="${width}" height="${height}"/>`,
    `<text class="text" x="${left}" y="24" font-size="15" font-weight="600">${title}</text>`,
    `<text class="soft" x="${left - 8}" y="${top - 14}">${unit}</text>`,
    ...y.ticks.map((value) => {
      const at = round(y.place(value));
      return `<path class="grid" d="M${left} ${at}H${width - right}"/><text class="soft" x="${left - 8}" y="${at + 4}" text-anchor="end">${short(value)}</text>`;
    }),
    ...x.ticks.map((size) => {
      const at = round(x.place(size));
      return `<path class="grid" d="M${at} ${top}V${height - bottom}"/><text class="soft" x="${at}" y="${height - bottom + 20}" text-anchor="middle">${short(size)}</text>`;
    }),
    `<text class="soft" x="${(left + width - right) / 2}" y="${height - 16}" text-anchor="middle">${axis} (both axes logarithmic; dashed: twice as much for twice as many)</text>`,
    linear(x, y),
    ...drawn.map(({ label, points }, index) => {
      const path = points.map(({ size, value }) => `${round(x.place(size))} ${round(y.place(value))}`).join("L");
      const dots = points.map(
        ({ size, value }) =>
          `<circle class="fill${index}" cx="${round(x.place(size))}" cy="${round(y.place(value))}" r="4"><title>${label}: ${value.toPrecision(3)} at ${size.toLocaleString("en-US")} ${axis}</title></circle>`,
      );
      const end = `<text class="fill${index}" x="${width - right + 12}" y="${round((labels[index] ?? 0) + 4)}">${label}</text>`;
      return `<path class="line${index}" d="M${path}"/>${dots.join("")}${end}`;
    }),
    `</svg>\n`,
  ].join("\n");
}

interface Scale {
  readonly ticks: readonly number[];
  place(value: number): number;
}

/** From the power of ten below the least to the least of 1, 2 or 5 times one that is above the most. */
function scale(values: readonly number[], from: number, to: number): Scale {
  const least = Math.min(...values);
  const most = Math.max(...values);
  const candidates = Array.from({ length: 40 }, (_, index) =>
    [1, 2, 5].map((step) => step * 10 ** (index - 12)),
  ).flat();
  const start = candidates.findLast((candidate) => candidate <= least * (1 + 1e-9)) ?? least;
  const end = candidates.find((candidate) => candidate >= most * (1 - 1e-9) && candidate > start) ?? most;
  const inside = candidates.filter((candidate) => candidate >= start && candidate <= end);
  const powers = inside.filter((candidate) => Number.isInteger(Math.round(Math.log10(candidate) * 1e6) / 1e6));
  return {
    ticks: inside.length > 9 ? powers : inside,
    place: (value) => from + ((to - from) * Math.log(value / start)) / Math.log(end / start),
  };
}

/** Proportional growth: through the lower left corner, as far as the image goes. */
function linear(x: Scale, y: Scale): string {
  const startSize = x.ticks[0] ?? 1;
  const endSize = x.ticks.at(-1) ?? 1;
  const startValue = y.ticks[0] ?? 1;
  const endValue = y.ticks.at(-1) ?? 1;
  const times = Math.min(endSize / startSize, endValue / startValue);
  const end = `${round(x.place(startSize * times))} ${round(y.place(startValue * times))}`;
  return `<path class="linear" d="M${round(x.place(startSize))} ${round(y.place(startValue))}L${end}"/>`;
}

/** The places of labels, moved apart where they would lie over each other. */
function spread(places: readonly number[]): readonly number[] {
  const moved = [...places];
  const order = [...places.keys()].toSorted((a, b) => (places[a] ?? 0) - (places[b] ?? 0));
  let free = -Infinity;
  for (const index of order) {
    moved[index] = Math.max(moved[index] ?? 0, free);
    free = (moved[index] ?? 0) + labelHeight;
  }
  return moved;
}

function style(): string {
  const colours = (page: string, text: string, soft: string, grid: string, lines: readonly string[]): string =>
    [
      `.page{fill:${page}}.text{fill:${text}}.soft{fill:${soft}}.grid{stroke:${grid}}.linear{fill:none;stroke:${soft};stroke-dasharray:5 4}`,
      ...lines.map(
        (colour, index) => `.line${index}{fill:none;stroke:${colour};stroke-width:2}.fill${index}{fill:${colour}}`,
      ),
    ].join("");
  return `${colours("#fff", "#1c1c1c", "#555", "#e4e4e4", light)}@media (prefers-color-scheme:dark){${colours("#14171c", "#f0f0f0", "#b4bac4", "#2c323b", dark)}}`;
}

function short(value: number): string {
  if (value >= 1e6) return `${value / 1e6}M`;
  if (value >= 1e3) return `${value / 1e3}k`;
  return String(Number(value.toPrecision(2)));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
