import { formatCount, formatExpected } from "../../../base/numbers.ts";
import type { Severity } from "../../../contract/severity.ts";
import { durationText } from "../../../words/numbers.ts";
import { html, type Html } from "../../parts/html.ts";
import { formatInstant, type ValuesDrawing } from "./counts.ts";
import type { ChartAct, ChartData } from "./data.ts";
import { area, box, leftWord, percent, stroke, word } from "./drawing.ts";
import { plotWidth, timeScale } from "./scales.ts";

/** Draws one lane around `y`. */
export type DrawLane = (data: ChartData, y: number) => ValuesDrawing;

/** Returns the lanes that a chart has, from above. */
export function lanesOf(data: ChartData): readonly DrawLane[] {
  return [
    ...(data.began === null ? [] : [drawBegan]),
    ...(data.states === null ? [] : [drawStates]),
    ...(shownActs(data).length === 0 ? [] : [drawActs]),
  ];
}

/** A tick where each organization began. */
function drawBegan(data: ChartData, y: number): ValuesDrawing {
  const x = timeScale(data);
  const within = (data.began ?? []).filter((atMs) => atMs >= data.fromMs && atMs <= data.toMs);
  // Several marks at one place are drawn once.
  const places = [...new Set(within.map(x))];
  const together = data.incident?.together ?? null;
  const usual = together === null ? "" : `, usually ${formatExpected(together.usual)}`;
  const end =
    together === null
      ? { figure: formatCount((data.began ?? []).length), words: "began" }
      : { figure: formatCount(together.count), words: `in ${durationText(together.withinMs)}${usual}` };
  return {
    plot: [stroke("rule", `M0 ${y}H${plotWidth}`), stroke("ink", places.map((at) => `M${at} ${y - 8}v16`).join(""))],
    over: [leftWord(y, "began")],
    ends: [{ y, ...end }],
  };
}

interface Band {
  readonly severity: Severity;
  readonly left: number;
  readonly right: number;
}

/** How one organization, or the platform, stood. */
function drawStates(data: ChartData, y: number): ValuesDrawing {
  const x = timeScale(data);
  const states = data.states ?? [];
  const bands: Band[] = states.map(({ fromMs, severity }, index) => ({
    severity,
    left: x(fromMs),
    right: x(states[index + 1]?.fromMs ?? data.toMs),
  }));
  // Bands stand apart by a little, unless they are too short for that.
  const outline = (severity: Severity, half: number): string =>
    bands
      .filter((band) => band.severity === severity && band.right > band.left)
      .map(({ left, right }) =>
        box(left, right < plotWidth && right - left > 4 ? right - 1.5 : right, y - half, y + half),
      )
      .join("");
  const hatched = bands.flatMap(({ severity, left, right }): Html[] =>
    (severity === "warn" || severity === "unknown") && right > left
      ? [
          html`<rect
            fill="url(#p-${severity})"
            x="${percent(left)}"
            y="${y - 5}"
            width="${percent(right - left)}"
            height="10"
          />`,
        ]
      : [],
  );
  const last = states.at(-1);
  return {
    plot: [stroke("rule", `M0 ${y}H${plotWidth}`), stroke("ok", outline("ok", 4.5)), area("fail", outline("fail", 5))],
    over: [leftWord(y, "state"), ...hatched],
    ends: last === undefined ? [] : [{ y, figure: last.severity, words: stateWords(last.fromMs, data) }],
  };
}

/** "since 07:25"; of what began before the range how long it is at least. */
function stateWords(fromMs: number, { fromMs: firstMs, toMs, nowMs }: ChartData): string {
  if (fromMs <= firstMs) return `for over ${durationText(toMs - firstMs)}`;
  return `${toMs < nowMs ? "from" : "since"} ${formatInstant(fromMs, nowMs)}`;
}

/** What people did, each with its words where there is room. */
function drawActs(data: ChartData, y: number): ValuesDrawing {
  const x = timeScale(data);
  const acts = shownActs(data).map((act) => ({ ...act, x: x(act.atMs) }));
  const last = acts.at(-1);
  const over: Html[] = [leftWord(y, "acts")];
  let isLastSaid = false;
  for (const [index, act] of acts.entries()) {
    const text = `${act.text} ${formatInstant(act.atMs, data.nowMs)}`;
    over.push(
      html`<svg x="${percent(act.x)}" y="${y}" overflow="visible">
        <title>${text}</title>
        <use href="#m-${act.mark}" x="-7" y="-7" width="14" height="14" />
      </svg>`,
    );
    const room = roomOf(acts, index, text);
    if (room !== null)
      over.push(
        word(act.x, y + 4, text, room === "left" ? { className: "end wide", dx: -11 } : { className: "wide", dx: 11 }),
      );
    if (act === last) isLastSaid = room !== null;
  }
  const end = last === undefined || isLastSaid ? "" : `${last.text} ${formatInstant(last.atMs, data.nowMs)}`;
  return {
    plot: [stroke("rule", `M0 ${y}H${plotWidth}`)],
    over,
    ends: end === "" ? [] : [{ y, figure: "", words: end, isMinor: true }],
  };
}

/** Those within the range. */
export function shownActs({ acts, fromMs, toMs }: ChartData): readonly ChartAct[] {
  return acts.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs);
}

// A character is as wide as this share of the plot, roughly: 6.5 px of 1,000, and the mark beside the words.
const unitsACharacter = 6.5;
const markUnits = 14;

/** On which side of an act its words cover no other act, nor another's words; null: on none. */
function roomOf(acts: readonly { readonly x: number }[], index: number, text: string): "left" | "right" | null {
  const here = acts[index]?.x ?? 0;
  const width = text.length * unitsACharacter + markUnits;
  const [before, after] = [acts[index - 1]?.x, acts[index + 1]?.x];
  // Each keeps to its side of the middle between two acts, so that two never meet.
  const leftEdge = before === undefined ? 0 : (before + here) / 2;
  const rightEdge = after === undefined ? plotWidth : (after + here) / 2;
  if (here + width <= rightEdge) return "right";
  return here - width >= leftEdge ? "left" : null;
}
