import { describe, expect, it } from "vitest";

import { createScriptedSource, spikeResult } from "../../test/support/far-side/scripted-source.ts";
import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { FlatlineError } from "../base/errors.ts";
import type { PlatformApi, PlatformSource } from "../contract/platform-api.ts";
import type { ReportsPage } from "../contract/reports.ts";
import { evaluateWithTypes } from "../spike/evaluate.ts";
import { runCheck, runRound, type RunCheckDeps } from "./run-check.ts";
import type { CheckTarget } from "../checks/checks.ts";

const startMs = Date.parse("2026-05-06T12:00:00Z");
const day = 86_400_000;
const schedule = { pattern: "*/5 * * * *", timezone: "UTC", jitterMs: 0 };
const thresholds = { windowHours: 24, baselineDays: 7, warnMultiplier: 2, failMultiplier: 4, minSpikeCount: 10 };
const spike: CheckTarget = { check: "dead-asset-spike", slug: "acme", schedule, thresholds };
const queue: CheckTarget = {
  check: "review-queue",
  slug: "acme",
  schedule,
  settings: { enabled: true, schedule: "@hourly", warnAfterMs: 4 * 3_600_000, failAfterMs: day },
};

function deps(source: PlatformSource, over: Partial<RunCheckDeps> = {}): RunCheckDeps {
  const keys = {
    currentCount: "currentCount",
    baselineCount: "baselineCount",
    expectedCount: "expectedCount",
    ratio: "ratio",
  };
  return { source, clock: createVirtualClock({ startMs }), observedKeys: keys, ...over };
}

function never(): AbortSignal {
  return new AbortController().signal;
}

describe("a run of the spike check", () => {
  it("asks with slug and thresholds, and reports result and counts", async () => {
    const asked: unknown[] = [];
    const result = spikeResult("acme", { severity: "warn" });
    const source = createScriptedSource({ spike: async (request) => (asked.push(request), result) });

    const report = await runCheck(spike, deps(source), never());

    expect(asked).toEqual([{ slug: "acme", ...thresholds }]);
    expect(report).toEqual({
      kind: "result",
      check: "dead-asset-spike",
      slug: "acme",
      startedAtMs: startMs,
      finishedAtMs: startMs,
      severity: "warn",
      result,
      counts: { currentCount: 3, baselineCount: 70, expectedCount: 10, ratio: 0.3 },
      baselineCoverage: null,
    });
  });

  it.each([
    { what: "configured names", observed: { dead: 7 }, key: "dead", is: 7 },
    { what: "an absent name", observed: {}, key: "dead", is: null },
    { what: "text", observed: { dead: "7" }, key: "dead", is: null },
    { what: "a number that is not finite", observed: { dead: Number.POSITIVE_INFINITY }, key: "dead", is: null },
    { what: "a name that every object has", observed: {}, key: "constructor", is: null },
  ])("reads counts under $what", async ({ observed, key, is }) => {
    const source = createScriptedSource({ spike: async () => spikeResult("acme", { observed }) });
    const observedKeys = { currentCount: key, baselineCount: "b", expectedCount: "e", ratio: "r" };

    const report = await runCheck(spike, deps(source, { observedKeys }), never());

    expect(report).toMatchObject({
      counts: { currentCount: is, baselineCount: null, expectedCount: null, ratio: null },
    });
  });

  it("carries coverage of the baseline where the source is a local one", async () => {
    const source = createScriptedSource({ spike: async () => spikeResult("acme", { severity: "warn" }) });

    const firstEvents = async () => new Map([["acme", startMs - 2 * day]]);
    const report = await runCheck(spike, deps(source, { firstEvents }), never());

    expect(report).toMatchObject({ baselineCoverage: 1 / 7 });
  });

  it.each([
    { rule: "is unknown without any event ever", whenNoEvents: "unknown", first: [], is: "unknown" },
    { rule: "is evaluated where a stream of deaths only is expected", whenNoEvents: "ok", first: [], is: "ok" },
    { rule: "is evaluated where nobody asks", whenNoEvents: undefined, first: [], is: "ok" },
    { rule: "is evaluated once an event came", whenNoEvents: "unknown", first: [["acme", startMs]], is: "ok" },
    { rule: "is evaluated when its events were pruned", whenNoEvents: "unknown", first: [["acme", null]], is: "ok" },
  ] as const)("$rule", async ({ whenNoEvents, first, is }) => {
    const source = createScriptedSource({ spike: async () => spikeResult("acme") });
    const target = whenNoEvents === undefined ? spike : { ...spike, whenNoEvents };

    const report = await runCheck(target, deps(source, { firstEvents: async () => new Map(first) }), never());

    expect(report.severity).toBe(is);
    if (is === "unknown") {
      expect(report).toMatchObject({ error: { reason: "no_events" } });
      expect(JSON.stringify(report)).toContain('no liveness event of \\"acme\\" was ever stored');
    }
  });

  it("is unknown with the reason and the message of what ended it", async () => {
    const source = createScriptedSource({
      spike: () => Promise.reject(new FlatlineError("api_rate_limited", "said so")),
    });

    const report = await runCheck(spike, deps(source), never());

    const error = { reason: "rate_limited", message: "said so" };
    expect(report).toMatchObject({ kind: "error", severity: "unknown", error });
  });

  it("does not reject for a bug in a source", async () => {
    const source: PlatformSource = {
      forOrganization: () => {
        throw new TypeError("no such thing");
      },
    };

    expect(await runCheck(spike, deps(source), never())).toMatchObject({ kind: "error", error: { reason: "store" } });
  });

  it("ends with its signal as a timeout, even when the source does not listen", async () => {
    const clock = createVirtualClock({ startMs });
    const source = createScriptedSource({ spike: () => new Promise(() => {}) });
    const running = runCheck(spike, deps(source, { clock }), clock.timeout(30_000));

    await clock.advance(30_000);

    expect(await running).toMatchObject({
      finishedAtMs: startMs + 30_000,
      error: { reason: "timeout", message: "the check did not end in time" },
    });
  });
});

describe("a round", () => {
  const counted = (currentCount: number) => {
    const assetTypes = [{ assetType: "URL", currentCount, baselineCount: 7 }];
    return evaluateWithTypes({ slug: "acme", nowMs: startMs, currentCount, baselineCount: 7, assetTypes });
  };
  const silent = createScriptedSource({});
  const named = (slug: string, over: object = {}): CheckTarget => ({ ...spike, slug, ...over });

  it("has the report of what needs nothing but its counts, which are evaluated together, once", async () => {
    const rounds: string[][] = [];
    const evaluate: RunCheckDeps["evaluate"] = async (targets) => {
      rounds.push(targets.map(({ slug }) => slug));
      return targets.map(({ slug }) => counted(slug === "spiking" ? 100 : 1));
    };
    const targets = [named("calm"), queue, named("spiking"), named("watched", { maxSilenceMs: day })];

    const runs = await runRound(targets, deps(silent, { evaluate }), never());
    const reports = await Promise.all([runs[2], runs[3]].map(async (run) => typeof run === "function" && run(never())));

    expect(runs.map((run) => typeof run)).toEqual(["object", "function", "function", "function"]);
    expect(reports).toMatchObject([
      { severity: "fail", evidence: { assetTypes: [{ assetType: "URL", excess: 99 }] } },
      { severity: "ok" },
    ]);
    expect(rounds).toEqual([["calm", "spiking", "watched"]]);
  });

  it("has an error for each that cannot be evaluated, and for all when nothing can", async () => {
    const wrong = new FlatlineError("api_invalid_response", "a wrong row");
    const some = await runRound(
      [named("a"), named("b")],
      deps(silent, { evaluate: async () => [wrong, counted(1)] }),
      never(),
    );
    const none = await runRound(
      [named("a"), named("b")],
      deps(silent, { evaluate: () => Promise.reject(new FlatlineError("store_busy", "busy")) }),
      never(),
    );

    expect(some).toMatchObject([{ error: { reason: "invalid_response" } }, { severity: "ok" }]);
    expect(none).toMatchObject([{ error: { reason: "store" } }, { error: { reason: "store" } }]);
  });
});

describe("a run of the review queue check", () => {
  const waiting = (id: number, createdAt: string): ReportsPage["reports"][number] => ({ id, createdAt });

  it("walks all pages, an empty one with a cursor too, and counts a report once", async () => {
    const pages: Readonly<Record<string, ReportsPage>> = {
      "": { reports: [waiting(3, "2026-05-06T11:00:00Z"), waiting(2, "2026-05-06T07:00:00Z")], cursor: "a" },
      a: { reports: [], cursor: "b" },
      b: { reports: [waiting(2, "2026-05-06T07:00:00Z"), waiting(1, "2026-05-05T13:00:00Z")] },
    };
    const asked: unknown[] = [];
    const source = createScriptedSource({
      reports: async (query) => {
        asked.push(query);
        return pages[query.cursor ?? ""] ?? { reports: [] };
      },
    });

    const report = await runCheck(queue, deps(source), never());

    expect(report).toMatchObject({
      severity: "warn",
      result: { observed: { queued: 3, oldestAgeSeconds: 23 * 3_600 } },
    });
    expect(asked).toEqual([
      { slug: "acme", needsCustomerReview: true },
      { slug: "acme", needsCustomerReview: true, cursor: "a" },
      { slug: "acme", needsCustomerReview: true, cursor: "b" },
    ]);
  });
});

describe("a run of a healthcheck of the platform", () => {
  const target: CheckTarget = { ...spike, check: "reviewing-backlog", path: "reviewing/backlog", parameters: { n: 1 } };
  const source = (healthcheck: PlatformApi["healthcheck"]): PlatformSource => ({
    forOrganization: (slug) => ({
      ...createScriptedSource({}).forOrganization(slug),
      ...(healthcheck && { healthcheck }),
    }),
  });

  it("asks by its path, and takes no key of its result for a count of deaths", async () => {
    const asked: unknown[] = [];
    const result = spikeResult("acme", { severity: "warn" });

    const report = await runCheck(target, deps(source(async (request) => (asked.push(request), result))), never());

    expect(asked).toEqual([{ path: "reviewing/backlog", slug: "acme", parameters: { n: 1 } }]);
    const counts = { currentCount: null, baselineCount: null, expectedCount: null, ratio: null };
    expect(report).toMatchObject({
      check: "reviewing-backlog",
      severity: "warn",
      result,
      counts,
      baselineCoverage: null,
    });
  });
});
