import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { trendOf } from "../../bench/regression.ts";

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
    expect(stdout).toContain("complaints     {}");
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
});
