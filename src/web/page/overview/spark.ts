import { html, nothing, type Html } from "../../parts/html.ts";
import type { RowSeverity } from "../parts/marks.ts";

/** The last seven days of a count, oldest first, one letter of `states` a point: o, w, f, u and - for no run. */
export interface Spark {
  readonly counts: readonly (number | null)[];
  readonly states: string;
  /** Expected now; null: unknown. */
  readonly expected: number | null;
  /** The least height of the scale, so that an ok row looks calm: the larger of failAbove and minSpikeCount. */
  readonly floor: number;
}

/** Points of a sparkline: one per three hours of seven days, and now. */
export const sparkPoints = 57;
const shortHours = 72;
const width = 168;
const height = 26;
const letters: Readonly<Record<string, RowSeverity>> = { o: "ok", w: "warn", f: "fail", u: "unknown" };

/** Returns the letter of a severity in `states`. */
export function stateLetter(severity: RowSeverity | null): string {
  return severity === null ? "-" : severity.charAt(0);
}

/** Returns the sparkline of a row; what it says, the row says in numbers. */
export function sparkline(spark: Spark): Html {
  const top = Math.max(1, spark.floor, ...spark.counts.map((count) => count ?? 0));
  const x = (index: number): number => round(1 + (index * (width - 6)) / (sparkPoints - 1));
  const y = (value: number): number => round(height - 3 - (value / top) * (height - 6));
  const line: string[] = [];
  const runs = new Map<string, string[]>();
  let isOpen = false;
  for (const [index, count] of spark.counts.entries()) {
    const state = spark.states[index] ?? "-";
    if (count === null) {
      isOpen = false;
      continue;
    }
    line.push(`${isOpen ? "L" : "M"}${x(index)} ${y(count)}`);
    const before = spark.counts[index - 1];
    if ((state === "w" || state === "f") && isOpen && before !== null && before !== undefined) {
      const parts = runs.get(state) ?? [];
      runs.set(state, parts);
      parts.push(`M${x(index - 1)} ${y(before)}L${x(index)} ${y(count)}`);
    }
    isOpen = true;
  }
  const first = spark.counts.findIndex((count) => count !== null);
  const knownHours = first === -1 ? 0 : (sparkPoints - 1 - first) * 3;
  const last = spark.counts.findLastIndex((count) => count !== null);
  const lastState = letters[spark.states.at(-1) ?? "-"] ?? "ok";
  const lastCount = spark.counts[last];
  const isUnknown = lastState === "unknown";
  const unknownFrom = last < 0 ? sparkPoints - 2 : last;
  const parts: Html[] = [
    spark.expected === null
      ? nothing
      : html`<path class="exp" d="M${x(Math.max(0, first))} ${y(Math.min(spark.expected, top))}H${width - 5}" />`,
    html`<path class="${lastState === "ok" ? "line calm" : "line"}" d="${line.join("")}" />`,
    ...[...runs].map(([state, moves]) => html`<path class="run ${letters[state] ?? "ok"}" d="${moves.join("")}" />`),
    isUnknown
      ? html`<path class="gap" d="M${x(Math.min(unknownFrom, sparkPoints - 3))} ${height - 3}H${x(sparkPoints - 1)}" />`
      : nothing,
    lastCount === null || lastCount === undefined || isUnknown
      ? nothing
      : html`<circle class="end ${lastState}" cx="${x(last)}" cy="${y(lastCount)}" r="2.4" />`,
  ];
  // What is known of a short time must not look like the calmest of all.
  const isShort = first > 0 && knownHours < shortHours;
  const label = knownHours < 24 ? `${Math.max(1, knownHours)} h known` : `${Math.floor(knownHours / 24)} d known`;
  return html`${isShort ? html`<span class="known">${label}</span>` : nothing}<svg
      class="spark"
      width="${width}"
      height="${height}"
      viewBox="0 0 ${width} ${height}"
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      ${parts}
    </svg>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
