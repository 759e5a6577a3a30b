import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { parseExposition, seriesValue, type ParsedFamily } from "../../support/exposition-parser.ts";
import { eventually, promtool, readText, startDaemon, type Daemon } from "../../support/program/program.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "../../support/far-side/scripted-upstream.ts";
import { upstreamCases } from "../../support/far-side/upstream-cases.ts";

const check = "dead-asset-spike";
// Bodies are read up to 4 MiB, at most 16 at once; Node itself takes some 90 MB.
const mostMemoryBytes = 512 * 1_024 ** 2;

let folder: string;
let upstream: ScriptedUpstream;
let daemon: Daemon;
let exposition: string;
let metrics: Map<string, ParsedFamily>;

function configText(baseUrl: string): string {
  // Longer than an answer takes on a machine that is busy with other things.
  // A key of its own each: a Retry-After pauses all that ask with the same one.
  const organizations = upstreamCases.map(({ slug }) => `  - { slug: ${slug}, apiKey: key-of-${slug} }`).join("\n");
  return `
source: { type: remote, baseUrl: "${baseUrl}", timeout: 3s, retries: 1 }
defaults: { schedule: "*/2 * * * * *" }
organizations:
${organizations}
receivers: [{ name: console, type: log }]
server: { listen: "127.0.0.1:0" }
storage: { path: flatline.db }
`;
}

interface CheckView {
  readonly severity: string | null;
  readonly error: { readonly reason: string; readonly message: string } | null;
}

/** Runs of an organization that have ended. */
function runsOf(slug: string, families: ReadonlyMap<string, ParsedFamily>): number {
  const samples = families.get("flatline_check_runs_total")?.samples ?? [];
  return samples.filter(({ labels }) => labels["slug"] === slug).reduce((sum, { value }) => sum + value, 0);
}

function observedOf(slug: string): Record<string, number> {
  const samples = metrics.get("flatline_check_observed")?.samples ?? [];
  return Object.fromEntries(
    samples.filter(({ labels }) => labels["slug"] === slug).map(({ labels, value }) => [labels["key"], value]),
  );
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-upstream-"));
  upstream = await startScriptedUpstream();
  const asked = new Map<string, number>();
  upstream.otherwise((request) => {
    const { slug } = JSON.parse(request.body) as { slug: string };
    const number = asked.get(slug) ?? 0;
    asked.set(slug, number + 1);
    const found = upstreamCases.find((one) => one.slug === slug);
    return found?.answer(number, request) ?? { kind: "answer", status: 599 };
  });
  await writeFile(join(folder, "flatline.yaml"), configText(upstream.baseUrl));
  daemon = await startDaemon([], { cwd: folder });
  // Each of them more than once: what one run leaves behind must not harm the next.
  await eventually(async () => {
    exposition = await readText(`${daemon.url}/metrics`);
    metrics = parseExposition(exposition, "text");
    return upstreamCases.every(({ slug }) => runsOf(slug, metrics) >= 3);
  }, 110_000);
});
afterAll(async () => {
  await daemon.kill();
  await upstream.close();
  await rm(folder, { recursive: true });
});

describe("an upstream", () => {
  it.each(upstreamCases)("$slug: $expected", async ({ slug, expected }) => {
    const view = JSON.parse(await readText(`${daemon.url}/api/v1/checks/${check}/${slug}`)) as CheckView;
    const up = seriesValue(metrics, "flatline_check_up", { slug });

    if ("error" in expected) {
      expect(view).toMatchObject({ severity: "unknown", error: { reason: expected.error } });
      expect(up).toBe(0);
      expect(seriesValue(metrics, "flatline_check_severity", { slug, severity: "unknown" })).toBe(1);
      expect(observedOf(slug)).toEqual({});
    } else {
      expect(view).toMatchObject({ severity: expected.severity, error: null });
      expect(up).toBe(1);
      expect(seriesValue(metrics, "flatline_check_severity", { slug, severity: expected.severity })).toBe(1);
      expect(observedOf(slug)).toEqual(expected.observed);
    }
  });

  it("has its failures counted by reason", () => {
    const reasons = new Map<string, number>();
    for (const { slug, expected } of upstreamCases) {
      if ("error" in expected) reasons.set(expected.error, (reasons.get(expected.error) ?? 0) + runsOf(slug, metrics));
    }
    const samples = metrics.get("flatline_check_errors_total")?.samples ?? [];
    const counted = samples.filter(({ labels }) => labels["check"] === check);

    expect(Object.fromEntries(counted.map(({ labels, value }) => [labels["reason"], value]))).toMatchObject(
      Object.fromEntries(reasons),
    );
  });

  it("cannot make the answer of /metrics invalid", () => {
    if (promtool.skipReason === null) expect(promtool.complaints(exposition)).toBe("");
    expect(seriesValue(metrics, "flatline_check_observed", { slug: "odd-keys", key: 'say "no"' })).toBe(1);
  });

  it("cannot make the daemon large", () => {
    expect(seriesValue(metrics, "process_resident_memory_bytes")).toBeLessThan(mostMemoryBytes);
    expect(upstream.endlessBytes()).toBeGreaterThan(0);
  });

  it("cannot crash it, and sees no key in the log", async () => {
    expect(JSON.parse(await readText(`${daemon.url}/-/healthy`))).toEqual({ status: "ok" });
    expect(daemon.stderr()).not.toContain("key-of-");
    expect(daemon.log().filter(({ level, msg }) => level === "error" && msg !== "alert firing")).toEqual([]);
  });
});
