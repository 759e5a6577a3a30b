import { describe, expect, it } from "vitest";

import { resultReport } from "../../../test/support/check-reports.ts";
import { createRunProcess } from "../../../test/support/program/run-process.ts";
import { countsOf, createEventWorld, death, type EventWorld } from "../../../test/support/store/event-store.ts";
import { createSilentLogger } from "../../base/logger.ts";
import { noEvidence } from "../../contract/spike-evidence.ts";
import { evaluateLocally } from "../../service/local-evaluation.ts";
import { createSystemClock, dayMs, hourMs, minuteMs } from "../../base/time.ts";
import type { HealthcheckResult } from "../../contract/healthcheck.ts";
import { defaultThresholds } from "../../spike/thresholds.ts";
import { evaluateSpike, spikeWindow } from "../../spike/spike.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import type { LivenessEvent } from "../../store/events/rules.ts";
import { Board } from "../../store/runs/board.ts";
import { createSpikeEvidence } from "./spike.ts";
import { firingAlert } from "../../../test/support/firing-alert.ts";

const nowMs = Date.UTC(2026, 0, 15, 12);
const thresholds = defaultThresholds;
const never = new AbortController().signal;

function evidenceOf(
  { store }: Pick<EventWorld, "store">,
  board: Pick<Board, "state"> = new Board(),
): ReturnType<typeof createSpikeEvidence> {
  const clock = createSystemClock();
  return createSpikeEvidence({ store, clock, logger: createSilentLogger() }, board);
}

async function evaluate({ store }: EventWorld): Promise<HealthcheckResult> {
  const assetTypes = await countsOf(store, { slug: "acme", ...spikeWindow(nowMs, thresholds) });
  const sum = (key: "currentCount" | "baselineCount"): number => assetTypes.reduce((all, one) => all + one[key], 0);
  const counts = { currentCount: sum("currentCount"), baselineCount: sum("baselineCount") };
  return evaluateSpike({ slug: "acme", nowMs, thresholds, ...counts, assetTypes });
}

/** Two deaths a day with one of four reasons, then 40 in the hour from 09:40, nearly all with one reason. */
function regression(): LivenessEvent[] {
  const reasons = ["dns", "http_404", "parked", "tls_handshake"];
  const usual = Array.from({ length: 16 }, (_, index) =>
    death(nowMs - 8 * dayMs + index * 12 * hourMs + minuteMs, "acme", {
      assetType: "DOMAIN",
      asset: `usual-${index}`,
      attributes: { checker: "eu-1", reason: reasons[index % 4] ?? "" },
    }),
  );
  const onsetMs = nowMs - 2 * hourMs - 20 * minuteMs;
  const spike = Array.from({ length: 40 }, (_, index) =>
    death(onsetMs + index * minuteMs, "acme", {
      assetType: "DOMAIN",
      asset: `spike-${index}`,
      attributes: { checker: "eu-1", reason: index % 10 === 0 ? "dns" : "tls_handshake" },
    }),
  );
  return [...usual, ...spike];
}

const spikeAlert = (slug: string): Alert => firingAlert(slug, nowMs, { slug, state: "pending", firingAtMs: null });

describe("the evidence of a spike", () => {
  it("names what carries it, since when, and what it comes from", async () => {
    await using world = await createEventWorld();
    await world.store.events.add(regression());
    const result = await evaluate(world);

    const { result: enriched, evidence } = await evidenceOf(world)({ result }, { slug: "acme", thresholds }, never);

    expect(enriched.observed).toEqual({
      ...result.observed,
      onsetAt: "2026-01-15T09:40:00.000Z",
      revivedCount: 0,
      revivedShare: 0,
      likelyCause: "checker",
      likelyCauseReason: "The deaths are concentrated in one value: 88 % reason=tls_handshake, usually 21 %.",
      carrier: "reason=tls_handshake",
      deathsLastHour: 0,
      excess: "unclear",
      usualPerHour: 2 / 24,
    });
    expect(evidence).toEqual({
      assetTypes: [],
      carriers: [{ key: "reason", value: "tls_handshake", share: 37 / 42, usualShare: 3 / 14 }],
      sharedValue: "reason=tls_handshake",
      onset: { atMs: Date.parse("2026-01-15T09:40:00.000Z"), marker: null },
      excess: {
        state: "unclear",
        deathsLastHour: 0,
        usualPerHour: 2 / 24,
        quietSinceMs: Date.parse("2026-01-15T10:19:00.000Z"),
        expectedEndAtMs: null,
      },
      revived: { judged: 42, count: 0 },
      cause: "checker",
    });
    expect(enriched.findings.map(({ kind, ref, severity }) => [kind, ref, severity])).toEqual([
      ["dead-asset-spike", "acme", "fail"],
      ["dead-asset-spike.asset-type", "DOMAIN", "fail"],
      ["dead-asset-spike.attribute", "reason=tls_handshake", "fail"],
    ]);
    expect(enriched.findings[0]?.message).toMatch(/^42 deaths .*, began about 09:40 UTC$/);
    expect({ ...enriched, observed: 0, findings: 0 }).toEqual({ ...result, observed: 0, findings: 0 });
  });

  it("sees a break through the noise of a checker that flaps, where assets are counted", async () => {
    await using world = await createEventWorld();
    const onsetMs = nowMs - 2 * hourMs - 20 * minuteMs;
    // The same 30 assets die each hour of three weeks; then 60 others die within one.
    const flaps = Array.from({ length: 21 * 24 }, (_, hour) =>
      Array.from({ length: 30 }, (_, index) =>
        death(nowMs - hour * hourMs, "acme", { asset: `flaps-${index}`, attributes: { checker: "eu-1" } }),
      ),
    ).flat();
    const broken = Array.from({ length: 60 }, (_, index) =>
      death(onsetMs + index * minuteMs, "acme", { asset: `broken-${index}`, attributes: { checker: "eu-2" } }),
    );
    await world.store.events.add([...flaps, ...broken]);
    const evaluation = { slug: "acme", thresholds, baseline: "median", count: "deaths", appUrl: null, nowMs } as const;

    const { result: ofDeaths } = await evaluateLocally(evaluation, world.store.events);
    const { result: ofAssets } = await evaluateLocally({ ...evaluation, count: "assets" }, world.store.events);
    const found = await evidenceOf(world)({ result: ofAssets }, { slug: "acme", thresholds }, never);
    const { observed, findings } = found.result;

    expect(ofDeaths).toMatchObject({ severity: "ok", observed: { currentCount: 780, expectedCount: 720 } });
    expect(observed).toMatchObject({
      counting: "assets",
      currentCount: 90,
      expectedCount: 30,
      onsetAt: new Date(onsetMs).toISOString(),
      carrier: "checker=eu-2",
      // The last death is more than an hour ago, and assets that flap are not new.
      excess: "stopped",
      deathsLastHour: 0,
      usualPerHour: 30 / 24,
    });
    expect(findings[0]?.message).toMatch(/^90 dead assets in 24 h, 30.0 expected .*, began about 09:40 UTC$/);
  });

  it("names what was marked before it began", async () => {
    await using world = await createEventWorld();
    await world.store.events.add(regression());
    const common = { createdBy: null, note: null, createdAtMs: nowMs };
    const at = (hoursBefore: number): number => nowMs - hoursBefore * hourMs;
    await world.store.markers.add({ ...common, id: "1", text: "older", atMs: at(9), slug: null });
    await world.store.markers.add({ ...common, id: "2", text: "captcha rollout", atMs: at(3), slug: "acme" });
    await world.store.markers.add({ ...common, id: "3", text: "another's", atMs: at(2.5), slug: "globex" });
    await world.store.markers.add({ ...common, id: "4", text: "after it", atMs: at(2), slug: null });

    const found = await evidenceOf(world)({ result: await evaluate(world) }, { slug: "acme", thresholds }, never);
    const enriched = found.result;

    expect(enriched.observed).toMatchObject({ marker: "captcha rollout", markerAt: "2026-01-15T09:00:00.000Z" });
    expect(enriched.findings[0]?.message).toMatch(/, began about 09:40 UTC, 40 min after «captcha rollout»$/);
  });

  it("does not compare with days on which the checker was judged to be wrong", async () => {
    await using world = await createEventWorld();
    const { store } = world;
    const reasons = ["dns", "http_404", "parked", "tls_handshake"];
    const deathsAt = (daysBefore: number, count: number, reasonOf: (index: number) => string): LivenessEvent[] =>
      Array.from({ length: count }, (_, index) =>
        death(nowMs - daysBefore * dayMs - index * minuteMs, "acme", {
          asset: `${daysBefore}-${index}`,
          attributes: { reason: reasonOf(index) },
        }),
      );
    const usual = deathsAt(7, 12, (index) => reasons[index % 4] ?? "");
    // The checker was broken on most days, so that the median day is a broken one.
    const broken = [5.5, 4.5, 3.5, 2.5].flatMap((day) => deathsAt(day, 30, () => "tls_handshake"));
    await store.events.add([...usual, ...broken, ...deathsAt(0, 60, () => "tls_handshake")]);
    const ask = { slug: "acme", thresholds: { ...thresholds, windowHours: 12 } } as const;
    const result = { ...(await evaluate(world)), severity: "fail" } as const;
    const before = await evidenceOf(world)({ result }, ask, never);
    const startsAtMs = nowMs - 5.5 * dayMs;
    const incident = { ...spikeAlert("acme"), startsAtMs, state: "firing", windowHours: 12 } as const;
    const judgement = { verdict: "checker", comment: null, by: "kim", note: null, atMs: nowMs - dayMs } as const;
    await store.alerts.save({ ...incident, judgement, end: { atMs: nowMs - 2 * dayMs, isByRun: true } });

    const after = await evidenceOf(world)({ result }, ask, never);

    expect(before.result.observed).toMatchObject({ likelyCause: "assets" });
    expect(after.result.observed).toMatchObject({
      likelyCause: "checker",
      likelyCauseReason: "The deaths are concentrated in one value: 100 % reason=tls_handshake, usually 25 %.",
    });
  });

  it("keeps the onset of an episode that has left the window", async () => {
    await using world = await createEventWorld();
    await world.store.events.add(regression());
    const result = await evaluate(world);
    const onset = { atMs: Date.parse("2026-01-14T08:00:00.000Z"), marker: null };
    const own = await createRunProcess(world.store, createSystemClock());
    const evidence = { ...noEvidence, onset };
    await own.record(resultReport({ severity: "fail", result, evidence, finishedAtMs: nowMs - hourMs }));

    const { result: enriched } = await evidenceOf(world, own.board)({ result }, { slug: "acme", thresholds }, never);

    expect(enriched.observed["onsetAt"]).toBe("2026-01-14T08:00:00.000Z");
    expect(enriched.findings[0]?.message).toMatch(/, began about 14 Jan 08:00 UTC$/);
  });

  it("leaves the result as it is when the store fails", async () => {
    await using world = await createEventWorld();
    await world.store.events.add(regression());
    const result = await evaluate(world);
    const store = {
      ...world.store,
      evidence: { ...world.store.evidence, assetEvents: () => Promise.reject(new Error("disk")) },
    };

    const found = { result };
    const told = await evidenceOf({ store })(found, { slug: "acme", thresholds }, never);

    expect(told).toBe(found);
  });

  it("is given up with its run", async () => {
    await using world = await createEventWorld();
    await world.store.events.add(regression());
    const aborted = AbortSignal.abort(new Error("stopped"));

    const result = await evaluate(world);

    await expect(evidenceOf(world)({ result }, { slug: "acme", thresholds }, aborted)).rejects.toThrow();
  });
});
