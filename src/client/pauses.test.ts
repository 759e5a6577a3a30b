import { describe, expect, it } from "vitest";

import { sampleHealthcheck, sampleSpikeRequest } from "../../test/support/far-side/api-samples.ts";
import { errorOf, clientBench } from "../../test/support/client-bench.ts";
import type { ScriptedStep } from "../../test/support/far-side/scripted-upstream.ts";
import { PauseRegistry } from "./pauses.ts";

const bench = clientBench();
const ok: ScriptedStep = { kind: "answer", body: sampleHealthcheck() };

function busy(retryAfter: string, status = 429): ScriptedStep {
  return { kind: "answer", status, headers: { "retry-after": retryAfter } };
}

async function durationOf(call: Promise<unknown>): Promise<number> {
  let isDone = false;
  const startedAtMs = bench.clock.monotonicMs();
  const done = call.finally(() => {
    isDone = true;
  });
  await bench.clock.advanceUntil(async () => {
    await bench.clock.settleUntil(() => isDone || bench.clock.pendingSleeps() > 0);
    return isDone;
  });
  await done;
  return bench.clock.monotonicMs() - startedAtMs;
}

describe("a Retry-After", () => {
  it.each([
    { rule: "in seconds, of a 429", step: busy("7") },
    { rule: "in seconds, of a 503", step: busy("7", 503) },
    { rule: "as a date", step: busy("Thu, 01 Jan 2026 00:00:07 GMT") },
  ])("$rule, is waited for", async ({ step }) => {
    bench.upstream.script(step, ok);

    const waitedMs = await durationOf(bench.client.deadAssetSpike(sampleSpikeRequest()));

    expect(waitedMs).toBe(7_000);
  });

  it("that is longer than the timeout ends the call at once as rate_limited", async () => {
    bench.upstream.script(busy("31"));

    const error = await errorOf(bench.client.deadAssetSpike(sampleSpikeRequest()));

    expect(error).toMatchObject({ code: "api_rate_limited", retryAfterMs: 31_000 });
    expect(bench.clock.monotonicMs()).toBe(0);
  });

  it("that a probe met pauses probes, not runs; one that a run met pauses both", async () => {
    const pauses = new PauseRegistry({ clock: bench.clock });
    const run = bench.create({ pauses });
    const probe = bench.create({ pauses: new PauseRegistry({ clock: bench.clock, others: pauses }) });
    const isRefused = async (client: typeof run): Promise<boolean> =>
      client.deadAssetSpike(sampleSpikeRequest()).then(
        () => false,
        () => true,
      );

    bench.upstream.script(busy("3600"), ok, busy("3600"));
    expect([await isRefused(probe), await isRefused(probe), await isRefused(run)]).toEqual([true, true, false]);
    await bench.clock.advance(3_600_000);
    expect([await isRefused(run), await isRefused(probe)]).toEqual([true, true]);

    expect(bench.upstream.requests).toHaveLength(3);
  });

  it("ends the next call at once too, without a request", async () => {
    bench.upstream.script(busy("3600"));
    await errorOf(bench.client.deadAssetSpike(sampleSpikeRequest()));

    const error = await errorOf(bench.client.listReports({}));

    expect(error).toMatchObject({ code: "api_rate_limited", retryAfterMs: 3_600_000 });
    expect(bench.upstream.requests).toHaveLength(1);
  });

  it.each([
    { rule: "ten years in seconds", retryAfter: "315360000" },
    { rule: "more seconds than a number holds", retryAfter: "9".repeat(400) },
    { rule: "a date ten years ahead", retryAfter: "Fri, 01 Jan 2036 00:00:00 GMT" },
  ])("of $rule counts for an hour", async ({ retryAfter }) => {
    bench.upstream.script(busy(retryAfter), ok);

    const error = await errorOf(bench.client.deadAssetSpike(sampleSpikeRequest()));
    await bench.clock.advance(3_600_000);
    const result = await bench.client.deadAssetSpike(sampleSpikeRequest());

    expect(error).toMatchObject({ code: "api_rate_limited", retryAfterMs: 3_600_000 });
    expect(error.message).toContain("another 3600 s");
    expect(result.severity).toBe("ok");
  });

  it("of a 403 pauses nothing", async () => {
    bench.upstream.script(busy("3600", 403), ok);
    await errorOf(bench.client.deadAssetSpike(sampleSpikeRequest()));

    const result = await bench.client.deadAssetSpike(sampleSpikeRequest());

    expect(result.severity).toBe("ok");
  });
});

describe("PauseRegistry", () => {
  it("ends the pause of one account", () => {
    const pauses = new PauseRegistry({ clock: bench.clock });
    pauses.pause("a", 5_000);
    pauses.pause("b", 5_000);

    pauses.end("a");

    expect(pauses.remainingMs("a")).toBe(0);
    expect(pauses.remainingMs("b")).toBe(5_000);
  });
});
