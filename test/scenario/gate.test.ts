import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { acknowledgeAlert } from "../../src/alerting/acknowledge.ts";
import { readActEntries } from "../../src/alerting/acts/act-notice.ts";
import { judgeAlert } from "../../src/alerting/acts/judge.ts";
import { releaseGate } from "../../src/alerting/acts/release.ts";
import type { GatePolicy } from "../../src/alerting/decide/gate.ts";
import type { AlertingSettings } from "../../src/alerting/settings.ts";
import { unacknowledgeAlert } from "../../src/alerting/unacknowledge.ts";
import { createSilentLogger } from "../../src/base/logger.ts";
import { hourMs, minuteMs } from "../../src/base/time.ts";
import { actor } from "../../src/contract/actor.ts";
import { judgementVerdicts, type JudgementVerdict } from "../../src/contract/judgement.ts";
import { createGatePort } from "../../src/daemon/ports/gate.ts";
import type { Runtime } from "../../src/daemon/runtime.ts";
import type { GatePort } from "../../src/web/ports/gate.ts";
import { createAlertingWorld, type AlertingWorld } from "../support/alerting-world.ts";
import { GateModel } from "../support/gate-model.ts";
import { resultReport } from "../support/reports.ts";
import type { StoreEngineCase } from "../support/store/engines.ts";

/*
 * Random sequences of runs, judgements, acknowledgements, releases and reloads against a plain model of the contract: the
 * gate never allows what an unreleased failure holds, says what the model says, and tells of each opening once.
 */

const checks = ["dead-asset-spike", "sentinel"] as const;
// Often enough to be seen in some dozens of sequences.
const exclusions = ["none", "applied", "too_much", "too_much", null] as const;
const severities = ["ok", "warn", "fail", "fail", "unknown"] as const;
const ways = ["judged", "acknowledged", "resolved"] as const;
const kim = actor("kim", "token");
const receivers = [{ name: "platform", sendActs: true }];

type Step =
  | {
      readonly kind: "run";
      readonly check: (typeof checks)[number];
      readonly severity: (typeof severities)[number];
      readonly exclusion: (typeof exclusions)[number];
    }
  | { readonly kind: "judge"; readonly index: number; readonly verdict: JudgementVerdict | null }
  | { readonly kind: "acknowledge" | "unacknowledge"; readonly check: (typeof checks)[number] }
  | { readonly kind: "release" | "leave" }
  | { readonly kind: "set-clock"; readonly byMs: number };

const check = fc.constantFrom(...checks);
const steps = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("run" as const),
      check,
      severity: fc.constantFrom(...severities),
      exclusion: fc.constantFrom(...exclusions),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("judge" as const),
      index: fc.nat(20),
      verdict: fc.constantFrom(...judgementVerdicts, "checker" as const, null),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom("acknowledge" as const, "acknowledge" as const, "unacknowledge" as const),
      check,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("release" as const, "leave" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("set-clock" as const), byMs: fc.constantFrom(-hourMs, hourMs) }),
  },
);

const sequences = fc.array(steps, { minLength: 10, maxLength: 40, size: "max" });

class Life {
  readonly #world: AlertingWorld;
  readonly #settings: AlertingSettings;
  readonly #port: GatePort;
  readonly model: GateModel;
  #isConfigured = true;

  constructor(world: AlertingWorld, policy: GatePolicy) {
    this.#world = world;
    this.model = new GateModel(policy.releaseOn);
    this.#settings = { receivers, gateOf: () => policy } as unknown as AlertingSettings;
    const organizations = () => (this.#isConfigured ? [{ slug: "acme", thresholds: { windowHours: 24 } }] : []);
    const current = () => ({ config: { organizations: organizations() }, settings: this.#settings });
    this.#port = createGatePort({
      store: world.store,
      // Nothing but failures decides here.
      states: {
        of: () => ({ lastReport: { kind: "result" }, lastRunAtMs: world.clock.nowMs() }) as never,
        staleAfterMs: () => minuteMs,
      },
      runtime: { current } as unknown as Runtime,
      clock: world.clock,
      logger: createSilentLogger(),
      storeProblem: () => null,
      onAct: () => undefined,
    });
  }

  async take(step: Step): Promise<void> {
    const { clock, store } = this.#world;
    await clock.advance(minuteMs);
    const context = { store, settings: this.#settings, nowMs: clock.nowMs() };
    const author = kim;
    switch (step.kind) {
      case "run":
        return this.#run(step);
      case "judge": {
        const alert = this.model.alerts[step.index % Math.max(1, this.model.alerts.length)];
        if (alert === undefined || (step.verdict === null && alert.verdict === null)) return;
        const { id: alertId } = alert;
        await judgeAlert(context, { alertId, verdict: step.verdict, author, comment: null, mayOpenGate: true });
        alert.verdict = step.verdict;
        return;
      }
      case "acknowledge": {
        const alert = this.model.live(step.check);
        if (alert === undefined) return;
        await acknowledgeAlert(context, { alertId: alert.id, author, comment: null, mayOpenGate: true });
        alert.acknowledged = { isSince: true, severity: alert.severity };
        return;
      }
      case "unacknowledge": {
        const alert = this.model.live(step.check);
        if (alert?.acknowledged === undefined || alert.acknowledged === null) return;
        await unacknowledgeAlert(store, { alertId: alert.id, author, nowMs: clock.nowMs() });
        alert.acknowledged = null;
        return;
      }
      case "set-clock":
        return clock.shiftWall(step.byMs);
      case "release":
        await releaseGate(context, { slug: "acme", author, comment: "looked" });
        return this.model.release();
      case "leave":
        this.#isConfigured = !this.#isConfigured;
        await this.#world.reload({ slugs: this.#isConfigured ? ["acme"] : [] });
        if (!this.#isConfigured) this.model.leave();
        return;
      default:
        return step satisfies never;
    }
  }

  async #run({ check, severity, exclusion }: Step & { readonly kind: "run" }): Promise<void> {
    if (!this.#isConfigured) return;
    const { clock, store } = this.#world;
    if (severity === "unknown") return void (await this.#world.run("acme", "unknown", { check }));
    const report = resultReport({ startedAtMs: clock.nowMs(), severity, check });
    const observed = { ...report.result.observed, ...(exclusion === null ? {} : { baselineExclusion: exclusion }) };
    await this.#world.record({ ...report, result: { ...report.result, observed } });
    if (severity === "ok") return this.model.end(check, { isByRun: true, baselineExclusion: exclusion });
    const alert = (await store.alerts.live(check, "acme")).find(({ kind }) => kind === "verdict");
    this.model.notOk(alert?.id ?? "", check, severity, clock.nowMs());
  }

  /** What the gate answers, as far as the model says it. */
  async answer(): Promise<ReturnType<GateModel["answer"]> | null> {
    const view = await this.#port.look("acme");
    if (view === null) return null;
    const { decision, reason, sinceMs } = view;
    return { decision, reason, sinceMs };
  }

  async check(): Promise<void> {
    const wanted = this.model.answer();
    // Of a stranger whose gate nothing holds nobody says anything.
    const isStranger = !this.#isConfigured && wanted.decision === "allow";
    expect(await this.answer()).toEqual(isStranger ? null : wanted);
    const held = (await this.#port.all()).held.map(({ slug }) => slug);
    expect(held).toEqual(wanted.decision === "hold" ? ["acme"] : []);
  }

  /** How often receivers are to be notified that the gate has opened. */
  async openings(): Promise<number> {
    const acts = await this.#world.store.notices.acts();
    return acts.filter(({ body }) => readActEntries(body).some(({ event }) => event === "released")).length;
  }
}

async function live(
  engine: StoreEngineCase["engine"],
  releaseOn: GatePolicy["releaseOn"],
  sequence: readonly Step[],
): Promise<void> {
  const policy: GatePolicy = { releaseOn, whenUnknown: "allow" };
  const world = await createAlertingWorld({ engine, receivers, settings: { gateOf: () => policy } });
  try {
    const life = new Life(world, policy);
    let openings = 0;
    for (const step of sequence) {
      const before = life.model.answer().decision;
      await life.take(step);
      await life.check();
      if (before === "hold" && life.model.answer().decision === "allow") openings += 1;
      expect(await life.openings()).toBe(openings);
    }
  } finally {
    await world.close();
  }
}

describe("the gate is as the model says", () => {
  const run = (severity: (typeof severities)[number]): Step => ({
    kind: "run",
    check: "dead-asset-spike",
    severity,
    exclusion: "none",
  });
  const acknowledge: Step = { kind: "acknowledge", check: "dead-asset-spike" };
  const setBack: Step = { kind: "set-clock", byMs: -hourMs };

  it.each([
    ["an acknowledgement opens it", [run("fail"), setBack, acknowledge]],
    ["a later fail holds it again", [run("fail"), acknowledge, run("warn"), setBack, run("fail")]],
  ])("after the clock was set back: %s", async (_rule, sequence) => {
    await live("SQLite", ["acknowledged"], sequence);
  });

  it.each<[StoreEngineCase["engine"], number]>([
    ["SQLite", 60],
    ["PostgreSQL", 5],
  ])("whatever is done in any order, with %s", async (engine, numRuns) => {
    await fc.assert(
      fc.asyncProperty(fc.subarray([...ways]), sequences, (releaseOn, sequence) => live(engine, releaseOn, sequence)),
      // On a failure the shortest sequence that was found by then is better than a timeout.
      { numRuns, interruptAfterTimeLimit: 45_000 },
    );
  });
});
