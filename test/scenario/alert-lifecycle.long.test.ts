import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { Notification } from "../../src/alerting/notify/notification.ts";
import type { AlertPolicy } from "../../src/alerting/settings.ts";
import { dayMs, hourMs, minuteMs } from "../../src/base/time.ts";
import type { Severity } from "../../src/contract/severity.ts";
import { AlertModel, type Episode } from "../support/alert-model.ts";
import { storeEngines, type StoreEngineCase } from "../support/store/engines.ts";
import { createAlertingWorld, type AlertingWorld, type CrashPoint } from "../support/alerting-world.ts";
import { isLong } from "../support/tier.ts";

/*
 * Random days in the life of a daemon against a small model of what should have happened: whatever crashes, is silenced,
 * unreachable, reloaded or set back, every receiver is told of each episode at most once, in order and to its end.
 */

const slugs = ["acme", "globex"] as const;
const receiverNames = ["ops", "pager"] as const;
const policies: readonly AlertPolicy[] = [
  { forMs: 0, keepFiringForMs: 0, unknownAfter: 2, repeatIntervalMs: 0, minBaselineCoverage: 0 },
  { forMs: 10 * minuteMs, keepFiringForMs: 0, unknownAfter: 1, repeatIntervalMs: 4 * hourMs, minBaselineCoverage: 0 },
  { forMs: 0, keepFiringForMs: 15 * minuteMs, unknownAfter: 3, repeatIntervalMs: hourMs, minBaselineCoverage: 0 },
];
// Crossed with outages of days: here nothing is to be given up.
const maxAgeMs = 1_000 * dayMs;

type Step =
  | { readonly kind: "run"; readonly slug: string; readonly severity: Severity; readonly thenMs: number }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "silence"; readonly slug: string; readonly forMs: number }
  | { readonly kind: "end-silences" }
  | { readonly kind: "acknowledge"; readonly slug: string }
  | { readonly kind: "outage"; readonly receiver: string; readonly isDown: boolean }
  | { readonly kind: "crash"; readonly point: CrashPoint }
  | { readonly kind: "restart" }
  | { readonly kind: "policy"; readonly index: number }
  | { readonly kind: "remove"; readonly slug: string }
  | { readonly kind: "suspend"; readonly ms: number }
  | { readonly kind: "set-clock"; readonly ms: number };

const slug = fc.constantFrom(...slugs);
const shortMs = fc.integer({ min: 0, max: 20 }).map((minutes) => minutes * minuteMs);
const run = fc.record({
  kind: fc.constant("run" as const),
  slug,
  severity: fc.constantFrom<Severity[]>("ok", "ok", "warn", "fail", "unknown"),
  thenMs: fc.oneof(fc.integer({ min: 0, max: 15_000 }), shortMs),
});
const steps = fc.oneof(
  { weight: 12, arbitrary: run },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      ms: fc.integer({ min: 0, max: 12 }).map((hours) => hours * hourMs),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("silence" as const),
      slug: fc.constantFrom(...slugs, "*"),
      forMs: fc.oneof(shortMs, fc.constant(3 * hourMs)),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "end-silences" as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("acknowledge" as const), slug }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("outage" as const),
      receiver: fc.constantFrom(...receiverNames),
      isDown: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("crash" as const),
      point: fc.constantFrom<CrashPoint[]>("record", "form", "acknowledge"),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "restart" as const }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("policy" as const), index: fc.nat({ max: policies.length - 1 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("remove" as const), slug }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("suspend" as const), ms: shortMs }) },
) satisfies fc.Arbitrary<Step>;
const clockSteps = fc.record({
  kind: fc.constant("set-clock" as const),
  ms: fc.constantFrom(-hourMs, -5 * minuteMs, 5 * minuteMs, 3 * hourMs),
}) satisfies fc.Arbitrary<Step>;

interface Silence {
  readonly slug: string;
  readonly fromMs: number;
  untilMs: number;
}

interface Life {
  readonly world: AlertingWorld;
  readonly model: AlertModel;
  readonly silences: readonly Silence[];
}

async function live(
  engine: StoreEngineCase["engine"],
  sequence: readonly Step[],
  fleet: { minOrganizations: number } | null,
  check: (life: Life) => void,
): Promise<void> {
  const [first] = policies;
  if (first === undefined) throw new Error("there is a policy");
  const receivers = [{ name: "ops" }, { name: "pager", minSeverity: "fail" as const }];
  const world = await createAlertingWorld({ engine, slugs, receivers, policy: first, maxAgeMs, settings: { fleet } });
  try {
    const model = new AlertModel();
    const silences: Silence[] = [];
    let policy = first;
    const reload = (changes: { policy?: AlertPolicy; slugs?: readonly string[] }): Promise<void> =>
      world.reload(changes);
    const runNow = async (slug: string, severity: Severity): Promise<void> => {
      await world.run(slug, severity);
      const state = world.board.state("dead-asset-spike", slug);
      model.run(slug, severity, state?.lastReport?.startedAtMs ?? 0, policy);
    };

    for (const step of sequence) {
      switch (step.kind) {
        case "run":
          await runNow(step.slug, step.severity);
          await world.advance(step.thenMs);
          break;
        case "wait":
          await world.advance(step.ms);
          break;
        case "silence": {
          await world.silence(step.slug, step.forMs);
          const fromMs = world.clock.nowMs();
          silences.push({ slug: step.slug, fromMs, untilMs: fromMs + step.forMs });
          break;
        }
        case "end-silences":
          await endSilences(world, silences);
          break;
        case "acknowledge": {
          const alert = (await world.store.alerts.allLive()).find(
            (one) => one.slug === step.slug && one.state === "firing",
          );
          if (await world.acknowledge(step.slug)) model.acknowledge(step.slug, alert?.kind ?? "verdict");
          break;
        }
        case "outage":
          setOutage(world, step.receiver, step.isDown);
          break;
        case "crash":
          world.crashAt(step.point);
          break;
        case "restart":
          await world.restart();
          break;
        case "policy":
          policy = policies[step.index] ?? policy;
          await reload({ policy });
          break;
        case "remove":
          await reload({ slugs: slugs.filter((slug) => slug !== step.slug) });
          model.remove(step.slug, world.clock.nowMs());
          await world.advance(minuteMs);
          await reload({ slugs });
          break;
        case "suspend":
          await world.clock.jump(step.ms);
          break;
        case "set-clock":
          world.clock.shiftWall(step.ms);
          break;
      }
    }

    for (const name of receiverNames) setOutage(world, name, false);
    await endSilences(world, silences);
    // Longer than any wall clock was set back, any lease and any backoff.
    await world.advance(dayMs);
    for (const slug of slugs) await runNow(slug, "ok");
    await world.advance(hourMs);
    for (const slug of slugs) await runNow(slug, "ok");
    await world.advance(dayMs);

    expect(await world.store.alerts.allLive()).toEqual([]);
    expect(await world.store.outbox.list()).toEqual([]);
    expect(await world.store.notices.changes()).toEqual([]);
    expect(await world.store.notices.sent()).toEqual([]);
    expect(await world.store.incidents.open()).toEqual([]);
    check({ world, model, silences });
  } finally {
    await world.close();
  }
}

async function endSilences(world: AlertingWorld, silences: readonly Silence[]): Promise<void> {
  const nowMs = world.clock.nowMs();
  for (const { id } of await world.store.silences.endingAfter(nowMs)) await world.store.silences.expire(id, nowMs);
  for (const silence of silences) silence.untilMs = Math.min(silence.untilMs, nowMs);
}

function setOutage(world: AlertingWorld, name: string, isDown: boolean): void {
  const receiver = world.receivers.get(name);
  if (receiver === undefined) throw new Error(`${name} is a receiver`);
  receiver.answer = () =>
    isDown ? { kind: "retry", error: "HTTP 503", retryAfterMs: null } : { kind: "accepted", detail: "" };
}

/** Laws of what one receiver accepted that hold whatever happened. */
function checkReceiver(receiver: string, { world, model }: Life): Map<string, Episode> {
  const accepted = world.receivers.get(receiver)?.accepted ?? [];
  const byId = Map.groupBy(accepted, ({ id }) => id);
  for (const repeats of byId.values()) {
    for (const repeat of repeats) expect(repeat, "a repeat is the same notification").toEqual(repeats[0]);
  }

  const told = new Map<string, Episode>();
  const byAlert = Map.groupBy(
    world
      .notifications(receiver)
      .flatMap(({ alerts, generatedAtMs }) => alerts.map((alert) => ({ ...alert, generatedAtMs }))),
    ({ id }) => id,
  );
  const seen = new Set<Episode>();
  for (const [id, notices] of byAlert) {
    const [first] = notices;
    const last = notices.at(-1);
    if (first === undefined || last === undefined) continue;
    const events = notices.map(({ event }) => event);
    const isUnknown = first.kind === "unknown";
    expect(events[0], `${id} begins with its firing`).toBe(isUnknown ? "unknown" : "firing");
    expect(events.at(-1), `${id} ends`).toBe(isUnknown ? "recovered" : "resolved");
    expect(
      events.slice(1, -1).every((event) => ["escalated", "deescalated", "reminder"].includes(event)),
      `${id} in between`,
    ).toBe(true);
    for (const [index, notice] of notices.entries()) {
      expect(notice.previousSeverity, `${id} goes on from what was told`).toBe(notices[index - 1]?.severity ?? "ok");
      if (notice.event === "escalated") expect([notice.previousSeverity, notice.severity]).toEqual(["warn", "fail"]);
      if (notice.event === "deescalated") expect([notice.previousSeverity, notice.severity]).toEqual(["fail", "warn"]);
    }
    const episode = model.episodes.find(
      (one) => one.slug === first.slug && one.kind === first.kind && one.endsAtMs === last.endsAtMs && !seen.has(one),
    );
    if (episode === undefined) throw new Error(`${id} of ${first.slug} is no episode of the model`);
    expect(first.startsAtMs, `${id} begins with its episode`).toBe(episode.startsAtMs);
    seen.add(episode);
    told.set(id, episode);
  }
  return told;
}

/** Whether the receiver is one that has to hear of the episode, as far as its severity goes. */
function concerns(receiver: string, episode: Episode): boolean {
  return receiver === "ops" || episode.hasReachedFail;
}

function overlaps({ slug, fromMs, untilMs }: Silence, episode: Episode): boolean {
  const endMs = (episode.endsAtMs ?? Infinity) + dayMs / 2;
  return (slug === "*" || slug === episode.slug) && fromMs < endMs && untilMs > (episode.firedAtMs ?? 0);
}

function covers({ slug, fromMs, untilMs }: Silence, episode: Episode): boolean {
  const { firedAtMs, endsAtMs } = episode;
  return (slug === "*" || slug === episode.slug) && fromMs <= (firedAtMs ?? 0) && untilMs > (endsAtMs ?? Infinity);
}

function checkSilence(notifications: readonly Notification[], silences: readonly Silence[]): void {
  for (const { generatedAtMs, alerts } of notifications) {
    for (const { slug, event } of alerts) {
      // What was formed in the millisecond in which somebody made the silence was formed before it.
      const isSilenced = silences.some(
        (one) => (one.slug === "*" || one.slug === slug) && one.fromMs < generatedAtMs && generatedAtMs < one.untilMs,
      );
      if (isSilenced) expect(["resolved", "recovered"]).toContain(event);
    }
  }
}

const numRuns = isLong ? 30 : 5;
// What decides is the same; a few lives show whether the engine keeps it.
const runsOn = { SQLite: numRuns, PostgreSQL: isLong ? 4 : 2 } as const;
// The same lives each time, so that a red run is about the change at hand; another number explores others.
const seed = Number(process.env["FLATLINE_TEST_SEED"] ?? 20_261_121);
const timeoutMs = isLong ? 3_600_000 : 120_000;

describe.each(storeEngines)("the life of alerts on $engine", ({ engine }) => {
  it(
    "is told completely, once, in order, and not within silences",
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(steps, { maxLength: 60, size: "max" }), (sequence) =>
          live(engine, sequence, null, (life) => {
            for (const name of receiverNames) {
              const told = new Set(checkReceiver(name, life).values());
              for (const episode of life.model.episodes) {
                const isHeld =
                  episode.wasAcknowledged ||
                  episode.wasRemoved ||
                  life.silences.some((silence) => overlaps(silence, episode));
                const isHidden = life.silences.some((silence) => covers(silence, episode));
                if (!isHeld && concerns(name, episode))
                  expect(told, `${name} is told of ${episode.slug}`).toContain(episode);
                if (isHidden) expect(told, `${name} is not told of ${episode.slug}`).not.toContain(episode);
              }
              checkSilence(life.world.notifications(name), life.silences);
            }
          }),
        ),
        { numRuns: runsOn[engine], seed },
      );
    },
    timeoutMs,
  );

  it(
    "stays whole when somebody sets the clock, and under fleet verdicts",
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.oneof({ weight: 12, arbitrary: steps }, { weight: 1, arbitrary: clockSteps }), {
            maxLength: 60,
            size: "max",
          }),
          fc.constantFrom({ minOrganizations: 2 }, null),
          (sequence, fleet) =>
            live(engine, sequence, fleet, (life) => {
              for (const name of receiverNames) checkReceiver(name, life);
            }),
        ),
        { numRuns: runsOn[engine], seed },
      );
    },
    timeoutMs,
  );
});
