import { describe, expect, it } from "vitest";

import { minuteMs } from "../../base/time.ts";
import type { CheckReport } from "../../contract/report.ts";
import type { Severity } from "../../contract/severity.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import { errorReport, resultReport } from "../../../test/support/reports.ts";
import { reportFacts } from "../finished-run.ts";
import type { AlertPolicy } from "../settings.ts";
import { removal, transition, type Transition } from "./transition.ts";

const startMs = Date.parse("2026-11-01T10:00:00.000Z");
const plain: AlertPolicy = {
  forMs: 0,
  keepFiringForMs: 0,
  unknownAfter: 3,
  repeatIntervalMs: 0,
  minBaselineCoverage: 0,
};

interface Run {
  /** When its excess began, minutes after the start. */
  readonly onset?: number;
  /** Minutes after the start. */
  readonly at: number;
  readonly gives: Severity;
  readonly count?: number;
  readonly coverage?: number;
  readonly excess?: "ongoing" | "stopped";
}

/** Runs these in order. Notes changes as `minute event severity reason` and waits as `minute - reason`. */
function live(
  policy: Partial<AlertPolicy>,
  runs: readonly Run[],
): { told: string[]; states: readonly Alert[]; steps: Transition[] } {
  let states: readonly Alert[] = [];
  let ids = 0;
  const told: string[] = [];
  const steps: Transition[] = [];
  for (const run of runs) {
    const step = transition({
      states,
      report: {
        ...reportOf(run),
        ...reportFacts(reportOf(run)),
        ...(run.onset === undefined ? {} : { onset: { atMs: startMs + run.onset * minuteMs, marker: null } }),
      },
      policy: { ...plain, ...policy },
      newId: () => `alert-${++ids}`,
    });
    const changed = new Set([...step.alerts.map(({ id }) => id), ...step.forgotten]);
    states = [...states.filter(({ id }) => !changed.has(id)), ...step.alerts.filter(({ end }) => end === null)];
    steps.push(step);
    for (const { alertId, reason } of step.decisions) {
      const change = step.changes.find(({ alert }) => alert.id === alertId);
      told.push(`${run.at} ${change === undefined ? "-" : `${change.event} ${change.alert.severity}`} ${reason}`);
    }
  }
  return { told, states, steps };
}

function reportOf({ at, gives, count, coverage, excess }: Run): CheckReport {
  const startedAtMs = startMs + at * minuteMs;
  if (gives === "unknown") return errorReport({ startedAtMs });
  const known = excess === undefined ? {} : { excess };
  const counted = { currentCount: count ?? 10, baselineCoverage: coverage ?? null };
  return resultReport({ startedAtMs, severity: gives, ...counted, ...known });
}

/** Reads `minute severity` of each run, with an excess or the baseline's coverage. */
function runsOf(text: string): Run[] {
  return text.split(", ").map((one) => {
    const [at, gives, more = ""] = one.split(" ");
    const run: Run = { at: Number(at), gives: gives as Severity };
    if (Number(more) > 0) return { ...run, coverage: Number(more) };
    return more === "ongoing" || more === "stopped" ? { ...run, excess: more } : run;
  });
}

const m = minuteMs;

describe("transition", () => {
  it.each<[string, Partial<AlertPolicy>, string, string[]]>([
    ["ok says nothing", {}, "0 ok", []],
    ["without `for` the first non-ok run fires", {}, "0 warn", ["0 firing warn not_ok"]],
    [
      "an excess that has stopped is no change, and a reason once",
      {},
      "0 warn ongoing, 5 warn stopped, 10 warn stopped",
      ["0 firing warn not_ok", "5 - excess_stopped", "10 - still_not_ok"],
    ],
    ["ok to fail at once is one firing with fail", {}, "0 ok, 5 fail", ["5 firing fail not_ok"]],
    [
      "fires at the first run at which `for` has passed, boundary included",
      { forMs: 10 * m },
      "0 warn, 5 warn, 10 warn",
      ["0 - for_running", "5 - for_running", "10 firing warn for_elapsed"],
    ],
    [
      "fires with the severity of the run at which it fires",
      { forMs: 5 * m },
      "0 warn, 5 fail",
      ["0 - for_running", "5 firing fail for_elapsed"],
    ],
    [
      "ok within `for` breaks the episode, and the next one begins again",
      { forMs: 10 * m },
      "0 warn, 5 ok, 10 warn, 15 warn, 20 warn",
      [
        "0 - for_running",
        "5 - cleared_before_firing",
        "10 - for_running",
        "15 - for_running",
        "20 firing warn for_elapsed",
      ],
    ],
    [
      "a run without a result leaves `for` running and decides nothing",
      { forMs: 10 * m },
      "0 warn, 12 unknown, 13 warn",
      ["0 - for_running", "12 - run_failed", "13 - result_returned_early", "13 firing warn for_elapsed"],
    ],
    ["warn to fail is escalated", {}, "0 warn, 5 fail", ["0 firing warn not_ok", "5 escalated fail severity_rose"]],
    ["fail to warn is deescalated", {}, "0 fail, 5 warn", ["0 firing fail not_ok", "5 deescalated warn severity_fell"]],
    ["the same severity again changes nothing", {}, "0 warn, 5 warn", ["0 firing warn not_ok", "5 - still_not_ok"]],
    [
      "without `keepFiringFor` the first ok run resolves, with the last severity",
      {},
      "0 fail, 5 ok",
      ["0 firing fail not_ok", "5 resolved fail back_to_ok"],
    ],
    [
      "resolves at the first run at which it was ok for `keepFiringFor`",
      { keepFiringForMs: 10 * m },
      "0 fail, 5 ok, 10 ok, 15 ok",
      [
        "0 firing fail not_ok",
        "5 - keep_firing_for_running",
        "10 - keep_firing_for_running",
        "15 resolved fail keep_firing_for_elapsed",
      ],
    ],
    [
      "a flap within `keepFiringFor` neither resolves nor fires again",
      { keepFiringForMs: 10 * m },
      "0 warn, 5 ok, 10 warn, 15 ok, 24 ok",
      [
        "0 firing warn not_ok",
        "5 - keep_firing_for_running",
        "10 - still_not_ok",
        "15 - keep_firing_for_running",
        "24 - keep_firing_for_running",
      ],
    ],
    [
      "a flap back that is worse is escalated",
      { keepFiringForMs: 10 * m },
      "0 warn, 5 ok, 10 fail",
      ["0 firing warn not_ok", "5 - keep_firing_for_running", "10 escalated fail severity_rose"],
    ],
    [
      "runs without a result leave `keepFiringFor` running, and only a result ends it",
      { keepFiringForMs: 10 * m, unknownAfter: 99 },
      "0 warn, 5 ok, 30 unknown, 35 ok",
      [
        "0 firing warn not_ok",
        "5 - keep_firing_for_running",
        "30 - run_failed",
        "35 - result_returned_early",
        "35 resolved warn keep_firing_for_elapsed",
      ],
    ],
    [
      "unknown neither resolves nor fires a spike",
      { unknownAfter: 99 },
      "0 warn, 5 unknown, 10 warn",
      ["0 firing warn not_ok", "5 - run_failed", "10 - result_returned_early", "10 - still_not_ok"],
    ],
    [
      "`unknownAfter` runs in a row without a result are an alert of their own, ended by the next result",
      {},
      "0 unknown, 5 unknown, 10 unknown, 15 unknown, 20 ok",
      [
        "0 - run_failed",
        "5 - run_failed",
        "10 unknown unknown unknown_after_reached",
        "15 - still_unknown",
        "20 recovered unknown result_returned",
      ],
    ],
    [
      "a result in between begins the count again",
      { unknownAfter: 2 },
      "0 unknown, 5 ok, 10 unknown, 15 unknown",
      ["0 - run_failed", "5 - result_returned_early", "10 - run_failed", "15 unknown unknown unknown_after_reached"],
    ],
    [
      "both kinds live at once",
      { unknownAfter: 1 },
      "0 fail, 5 unknown, 10 ok",
      [
        "0 firing fail not_ok",
        "5 unknown unknown unknown_after_reached",
        "10 recovered unknown result_returned",
        "10 resolved fail back_to_ok",
      ],
    ],
    [
      "too little baseline keeps it pending; with enough of it, it fires",
      { minBaselineCoverage: 0.5 },
      "0 fail 0.2, 5 fail 0.49, 10 fail 0.5",
      ["0 - baseline_incomplete", "5 - baseline_incomplete", "10 firing fail not_ok"],
    ],
    [
      "a source that knows nothing of its baseline fires",
      { minBaselineCoverage: 1 },
      "0 warn",
      ["0 firing warn not_ok"],
    ],
    [
      "a wall clock that went back begins the wait again instead of making it longer",
      { forMs: 10 * m },
      "600 warn, 0 warn, 10 warn",
      ["600 - for_running", "0 - for_running", "10 firing warn for_elapsed"],
    ],
    [
      "a wall clock that went back begins `keepFiringFor` again",
      { keepFiringForMs: 10 * m },
      "600 warn, 605 ok, 5 ok, 15 ok",
      [
        "600 firing warn not_ok",
        "605 - keep_firing_for_running",
        "5 - keep_firing_for_running",
        "15 resolved warn keep_firing_for_elapsed",
      ],
    ],
  ])("%s", (_rule, policy, runs, expected) => {
    expect(live(policy, runsOf(runs)).told).toEqual(expected);
  });

  it("dates the episode from its first non-ok run to the run that ended it, with one id", () => {
    const { steps } = live({ forMs: 5 * m }, runsOf("0 warn, 5 warn, 20 ok"));

    const [fired, resolved] = steps.flatMap(({ changes }) => changes);

    expect(fired?.alert).toMatchObject({ id: "alert-1", startsAtMs: startMs, firingAtMs: startMs + 5 * m });
    expect(resolved).toMatchObject({ alert: { id: "alert-1", startsAtMs: startMs, end: { atMs: startMs + 20 * m } } });
  });

  it("keeps the worst it has seen: by severity, then by count, the earlier of equals", () => {
    const { states } = live({}, [
      { at: 0, gives: "warn", count: 900 },
      { at: 5, gives: "fail", count: 50 },
      { at: 10, gives: "fail", count: 70 },
      { at: 15, gives: "fail", count: 70 },
      { at: 20, gives: "warn", count: 2_000 },
    ]);

    expect(states[0]?.peak).toEqual({ severity: "fail", currentCount: 70, atMs: startMs + 10 * m });
  });

  it("keeps the earliest onset that its runs found, to the episode's end", () => {
    const { steps } = live({ keepFiringForMs: 5 * m }, [
      { at: 0, gives: "warn", onset: -40 },
      { at: 5, gives: "ok" },
      { at: 8, gives: "fail", onset: 6 },
      { at: 12, gives: "fail" },
      { at: 15, gives: "ok" },
      { at: 20, gives: "ok" },
    ]);

    const changes = steps.flatMap((step) => step.changes);

    expect(changes.map(({ event, alert }) => [event, alert.onset])).toEqual(
      ["firing", "escalated", "resolved"].map((event) => [event, { atMs: startMs - 40 * m, marker: null }]),
    );
  });

  it("names of one onset the marker that is known by now", () => {
    const onset = { atMs: startMs, marker: null };
    const marked = { atMs: startMs, marker: { text: "captcha rollout", atMs: startMs - 40 * m } };
    const report = { ...resultReport({ startedAtMs: startMs, severity: "fail" }), onset };
    const first = transition({ states: [], report, policy: plain, newId: () => "a" });

    const next = { states: first.alerts, report: { ...report, onset: marked }, policy: plain };
    const second = transition({ ...next, newId: () => "a" });

    expect(second.alerts[0]?.onset).toEqual(marked);
  });

  it("never ends an alert before it began", () => {
    const { steps } = live({}, runsOf("600 warn, 0 ok"));

    expect(steps.at(-1)?.changes[0]?.alert.end?.atMs).toBe(startMs + 600 * m);
  });
});

describe("removal", () => {
  it("resolves what fires and forgets what waits", () => {
    const [firing] = live({}, runsOf("0 fail")).states;
    const [pending] = live({ forMs: m }, runsOf("0 fail")).states;
    if (firing === undefined || pending === undefined) throw new Error("both should live");

    const ended = removal(firing, "organization_removed", startMs + m);
    const forgotten = removal(pending, "organization_removed", startMs + m);

    expect(ended.changes).toMatchObject([{ event: "resolved", reason: "organization_removed" }]);
    expect(ended.alerts).toMatchObject([{ end: { atMs: startMs + m, isByRun: false } }]);
    expect(forgotten).toMatchObject({ changes: [], alerts: [], forgotten: [pending.id] });
  });
});
