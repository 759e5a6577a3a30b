import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { trendOf } from "../../bench/harness/regression.ts";
import { lowest, soakPage, verdictOf, type SoakResult } from "../../bench/soak/report.ts";

const soak = fileURLToPath(new URL("../../bench/soak.ts", import.meta.url));

describe("the soak", () => {
  it("lives through virtual time and says what it took", { timeout: 60_000 }, async () => {
    const child = spawn(process.execPath, [soak, "--minutes", "0.01", "--organizations", "100"]);
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);

    expect(stderr).toBe("");
    expect(child.exitCode).toBe(0);
    expect(stdout).toMatch(/^100 organizations, [\d.]+ real minutes, [\d.]+ virtual hours$/m);
    expect(Number(/^checks +(\d+) /m.exec(stdout)?.[1])).toBeGreaterThanOrEqual(100);
    expect(stdout).toMatch(/^file handles +\d+, /m);
    expect(stdout).toMatch(/^memory outside of V8's heap +[\d.]+ MiB, \? MiB a virtual day: not known$/m);
    expect(stdout).toMatch(/^complaints +\{\}$/m);
  });

  it.each([
    { rule: "a line that rises", points: [0, 1, 2, 3].map((x) => ({ x, y: 7 + 2 * x })), slope: 2, standardError: 0 },
    { rule: "a level one", points: [0, 1, 2, 3].map((x) => ({ x, y: 7 })), slope: 0, standardError: 0 },
    {
      rule: "one with noise",
      points: [1, 2, 3, 4].map((x, index) => ({ x, y: [1, 3, 2, 4][index] ?? 0 })),
      slope: 0.8,
      standardError: 0.424,
    },
    { rule: "too few points", points: [{ x: 1, y: 1 }], slope: 0, standardError: Infinity },
  ])("gives $rule its slope", ({ points, slope, standardError }) => {
    const trend = trendOf(points);

    expect(trend.slope).toBeCloseTo(slope, 10);
    if (Number.isFinite(standardError)) expect(trend.standardError).toBeCloseTo(standardError, 3);
    else expect(trend.standardError).toBe(standardError);
  });

  it.each([
    { rule: "what rises", y: (x: number) => 100 + x, verdict: "grows" },
    { rule: "what sinks", y: (x: number) => 100 - x, verdict: "falls" },
    { rule: "what stays", y: () => 100, verdict: "level" },
    { rule: "what only jumps about", y: (x: number) => 100 + (x % 2) * 5, verdict: "level" },
    { rule: "less than a thousandth a day", y: (x: number) => 100 + x * 0.05, verdict: "level" },
  ])("calls $rule by its name", ({ y, verdict }) => {
    const points = Array.from({ length: 20 }, (_, x) => ({ x, y: y(x) }));

    expect(verdictOf(points).verdict).toBe(verdict);
  });

  it("does not judge a run that ended before its warm-up", () => {
    expect(verdictOf(lowest([{ x: 1, y: 1 }]))).toEqual({ trend: null, verdict: "not known" });
  });

  it("looks at the lowest of each interval, in which garbage and open connections come and go", () => {
    const points = Array.from({ length: 100 }, (_, x) => ({ x, y: x % 5 === 0 ? 10 : 10 + x }));

    const least = lowest(points);

    expect(least).toHaveLength(20);
    expect(least.every(({ y }) => y === 10)).toBe(true);
    expect(lowest(points.slice(0, 10))).toHaveLength(3);
  });

  it("writes a table with each slope, its standard error and the verdict", () => {
    const line = { least: 300, most: 320, last: 310.4 } as const;
    const result: SoakResult = {
      name: "soak",
      measuredAt: "2026-11-21T00:00:00.000Z",
      machine: { cpu: "none", cores: 2, memoryGiB: 1, kernel: "6" },
      versions: { node: "24.0.0" },
      organizations: 1_000,
      realMinutes: 10.01,
      virtualHours: 90,
      settledFromVirtualHours: 36,
      checks: 1_080_000,
      checksPerSecond: 1_800,
      notifications: 180,
      complaints: { "a check failed": 1_200 },
      lines: [
        {
          ...line,
          name: "private",
          title: "memory",
          unit: "MiB",
          ...verdictOf([0, 1, 2, 3].map((x) => ({ x, y: 7 }))),
        },
        { ...line, name: "handles", title: "file handles", unit: "", trend: null, verdict: "not known" },
      ],
      samples: [],
    };

    const page = soakPage(result);

    expect(page).toContain("| memory | 300–320 MiB | 310 MiB | 0 ± 0 MiB | level |");
    expect(page).toContain("| file handles | 300–320 | 310 | ? | not known |");
    expect(page).toContain(
      '1,080,000 checks (1,800 a second), 180 notifications; in the log: "a check failed" (1,200).',
    );
  });
});
