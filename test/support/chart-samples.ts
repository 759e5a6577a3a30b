import { dayMs, hourMs, minuteMs } from "../../src/base/time.ts";
import { barEnd, type ChartAct, type ChartData } from "../../src/web/pages/chart/data.ts";
import { barLengthOf, stepOf } from "../../src/web/pages/chart/scales.ts";
import { chooseSpan } from "../../src/web/pages/chart/span.ts";

const nothing = {
  kind: "deaths",
  counting: "deaths",
  expected: [],
  warn: [],
  fail: [],
  windowHours: 24,
  bars: null,
  lately: null,
  usualPerHour: null,
  incident: null,
  began: null,
  states: null,
  acts: [],
  knownFromMs: null,
  isThin: false,
} satisfies Partial<ChartData>;

/** Instants of a chart that ends at `toMs`. */
function instants(fromMs: number, toMs: number): number[] {
  const stepMs = stepOf(toMs - fromMs);
  const at: number[] = [];
  for (let atMs = fromMs; atMs < toMs; atMs += stepMs) at.push(atMs);
  return [...at, toMs];
}

/** Bars with the deaths that `deathsIn` gives each. */
function barsOf(fromMs: number, toMs: number, deathsIn: (fromMs: number, toMs: number) => number): ChartData["bars"] {
  const lengthMs = barLengthOf(toMs - fromMs);
  const from: number[] = [];
  for (let atMs = fromMs; atMs < toMs; atMs = Math.floor(atMs / lengthMs) * lengthMs + lengthMs) from.push(atMs);
  const bars = { lengthMs, from, deaths: [] };
  return { ...bars, deaths: from.map((atMs, index) => deathsIn(atMs, barEnd(bars, index, toMs))) };
}

const act = (atMs: number, text: string, mark: ChartAct["mark"] = "dot"): ChartAct => ({ atMs, text, mark });

/** 120 organizations that began together at 21:37, of which the excess stopped at 22:01. */
export function incidentChart(): ChartData {
  const nowMs = Date.UTC(2026, 10, 23, 22, 7);
  const [beganMs, stoppedMs] = [nowMs - 30 * minuteMs, nowMs - 6 * minuteMs];
  const incident = { beganMs, stoppedMs, endedMs: null, together: { count: 120, withinMs: 30 * minuteMs, usual: 0.4 } };
  const ask = {
    path: "/incidents/41",
    params: new URLSearchParams(),
    nowMs,
    incident,
    knownFromMs: null,
    isThin: false,
  };
  const { span, ranges } = chooseSpan(ask);
  const { fromMs, toMs } = span;
  // Most of the 36,001 in the first ten minutes.
  const excessAt = (atMs: number): number => {
    const share = Math.min(Math.max((atMs - beganMs) / (stoppedMs - beganMs), 0), 1);
    return Math.round(36_001 * (1 - (1 - share) ** 2));
  };
  const at = instants(fromMs, toMs);
  return {
    ...nothing,
    subject: "the 120 organizations",
    fromMs,
    toMs,
    nowMs,
    at,
    incident,
    ranges,
    count: at.map((atMs) => 3_300 + excessAt(atMs)),
    expected: at.map(() => 3_300),
    bars: barsOf(fromMs, toMs, (from, to) =>
      Math.round(excessAt(to) - excessAt(from) + ((to - from) / minuteMs) * 2.3),
    ),
    lately: { sinceMs: stoppedMs, deaths: 13 },
    usualPerHour: 137.5,
    began: Array.from({ length: 120 }, (_, index) => beganMs + ((index * 37) % 120) * 5_000),
    acts: [act(beganMs - 6 * minuteMs, "«captcha rollout eu-1»", "marker"), act(beganMs + 10 * minuteMs, "notified")],
  };
}

/** One organization of which nothing before the day of its incident is known. */
export function thinChart(): ChartData {
  const nowMs = Date.UTC(2026, 10, 26, 9, 50);
  const [knownFromMs, beganMs] = [nowMs - 25 * hourMs, nowMs - 170 * minuteMs];
  const incident = { beganMs, stoppedMs: null, endedMs: null, together: null };
  const ask = { path: "/incidents/43", params: new URLSearchParams(), nowMs, incident, knownFromMs, isThin: true };
  const { span, ranges } = chooseSpan(ask);
  const { fromMs, toMs } = span;
  const deathsAt = (atMs: number): number =>
    Math.max(0, ((atMs - knownFromMs) / hourMs) * 9) + Math.max(0, ((atMs - beganMs) / hourMs) * 207);
  const at = instants(fromMs, toMs);
  return {
    ...nothing,
    subject: "hooli-labs",
    fromMs,
    toMs,
    nowMs,
    at,
    incident,
    ranges,
    knownFromMs,
    isThin: true,
    count: at.map((atMs) => (atMs < knownFromMs ? null : Math.round(deathsAt(atMs)))),
    bars: barsOf(fromMs, toMs, (from, to) => Math.round(deathsAt(to) - deathsAt(from))),
    lately: { sinceMs: nowMs - hourMs, deaths: 212 },
    states: [
      { fromMs: knownFromMs, severity: "ok" },
      { fromMs: beganMs + 25 * minuteMs, severity: "fail" },
    ],
    acts: [act(beganMs + 26 * minuteMs, "notified"), act(nowMs - 19 * minuteMs, "acknowledged")],
  };
}

/** A week of one that is well, but for an hour of warning and one in which it could not be checked. */
export function organizationChart(params = new URLSearchParams()): ChartData {
  const nowMs = Date.UTC(2026, 10, 23, 22, 7);
  const ask = { path: "/organizations/acme", params, nowMs, incident: null, knownFromMs: null, isThin: false };
  const { span, ranges } = chooseSpan(ask);
  const { fromMs, toMs } = span;
  const at = instants(fromMs, toMs);
  return {
    ...nothing,
    subject: "acme",
    fromMs,
    toMs,
    nowMs,
    at,
    ranges,
    count: at.map((_, index) => (index === at.length - 1 ? 61 : 57 + ((index * 7) % 10))),
    expected: at.map(() => 58.3),
    warn: at.map(() => 116.6),
    fail: at.map(() => 233.2),
    bars: barsOf(fromMs, toMs, (from) => 4 + (Math.floor(from / hourMs) % 5)),
    lately: { sinceMs: nowMs - hourMs, deaths: 3 },
    usualPerHour: 58.3 / 24,
    states: [
      { fromMs, severity: "ok" },
      { fromMs: nowMs - 2 * dayMs, severity: "warn" },
      { fromMs: nowMs - 2 * dayMs + 5 * hourMs, severity: "unknown" },
      { fromMs: nowMs - 2 * dayMs + 9 * hourMs, severity: "ok" },
    ],
  };
}

/** A platform that has answered 503 since 02:10. */
export function platformChart(): ChartData {
  const nowMs = Date.UTC(2026, 10, 25, 2, 31);
  const [fromMs, beganMs] = [nowMs - 59 * minuteMs, nowMs - 21 * minuteMs];
  const at = instants(fromMs, nowMs);
  return {
    ...nothing,
    kind: "answers",
    subject: "security.example.com",
    fromMs,
    toMs: nowMs,
    nowMs,
    at,
    ranges: [],
    count: at.map((atMs) => (atMs < beganMs ? 60 : 0)),
    expected: at.map(() => 60),
    windowHours: null,
    incident: { beganMs, stoppedMs: null, endedMs: null, together: null },
    states: [
      { fromMs, severity: "ok" },
      { fromMs: beganMs, severity: "unknown" },
    ],
  };
}
