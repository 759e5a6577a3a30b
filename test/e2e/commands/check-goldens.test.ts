import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import { runProgram } from "../../support/program/program.ts";
import { isLong } from "../../support/tier.ts";

/** A verdict of the dead asset spike rule on the held real series (examples/records, test/fixtures/records). */
interface Golden {
  readonly slug: string;
  readonly at: string;
  readonly windowHours: number;
  readonly baselineDays: number;
  readonly warnMultiplier: number;
  readonly failMultiplier: number;
  readonly minSpikeCount: number;
  readonly currentCount: number;
  readonly baselineCount: number;
  readonly expectedCount: number;
  readonly severity: string;
}

const root = fileURLToPath(new URL("../../../", import.meta.url));
const files = [
  "examples/records/lightswitch.csv.gz",
  "examples/records/riskhosts.csv.gz",
  "test/fixtures/records/counts/nyc-taxi.csv.gz",
  "test/fixtures/records/counts/twitter-aapl.csv.gz",
  "test/fixtures/records/counts/twitter-cvs.csv.gz",
  "test/fixtures/records/counts/twitter-ups.csv.gz",
];
const slugs = ["lightswitch", "riskhosts", "nyc-taxi", "twitter-aapl", "twitter-cvs", "twitter-ups"];
const goldens = readFileSync(`${root}test/fixtures/records/goldens.jsonl`, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Golden);
// A process each takes half a second: all of them in the long tests, elsewhere one of each series and the rest in process.
const spawned = goldens.filter(
  ({ slug }, index) => isLong || goldens.findIndex((golden) => golden.slug === slug) === index,
);
const exitCodes: Readonly<Record<string, number>> = { ok: 0, warn: 1, fail: 2 };

let folder: ProgramFolder;

function argumentsOf(golden: Golden): string[] {
  const { slug, at, windowHours, baselineDays, warnMultiplier, failMultiplier, minSpikeCount } = golden;
  const flags = {
    at,
    "window-hours": windowHours,
    "baseline-days": baselineDays,
    "warn-multiplier": warnMultiplier,
    "fail-multiplier": failMultiplier,
    "min-spike-count": minSpikeCount,
  };
  return ["check", slug, "--json", ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)])];
}

function expectGolden(golden: Golden, { exitCode, stdout }: { exitCode: number | null; stdout: string }): void {
  const { slug, at, severity, currentCount, baselineCount, expectedCount } = golden;
  expect(JSON.parse(stdout)).toMatchObject([
    {
      slug,
      check: "dead-asset-spike",
      severity,
      result: {
        generatedAt: at,
        severity,
        ok: severity === "ok",
        observed: { currentCount, baselineCount, expectedCount },
      },
      error: null,
    },
  ]);
  expect(exitCode).toBe(exitCodes[severity]);
}

beforeAll(async () => {
  folder = await makeProgramFolder(
    `source: { type: embedded }\norganizations: [${slugs.join(", ")}]\nstorage: { path: flatline.db }\n`,
  );
  const paths = files.map((file) => root + file);
  const { exitCode, stderr } = await runProgram(["import", "events", ...paths], { cwd: folder.path });
  if (exitCode !== 0) throw new Error(stderr);
});
afterAll(() => folder[Symbol.asyncDispose]());

describe("flatline check on real series", () => {
  it.each(spawned)("$slug at $at, $windowHours h over $baselineDays d: $severity", async (golden) => {
    const outcome = await runProgram(argumentsOf(golden), { cwd: folder.path });

    expect(outcome.stderr).toBe("");
    expectGolden(golden, outcome);
  });

  it("takes the worst severity of several organizations as its exit code", async () => {
    const fail = goldens.find(({ slug, severity }) => slug === "lightswitch" && severity === "fail");
    if (fail === undefined) throw new Error("no golden that fails");

    const outcome = await runProgram([...argumentsOf(fail), "riskhosts", "twitter-ups"], { cwd: folder.path });

    expect(outcome.exitCode).toBe(2);
    expect((JSON.parse(outcome.stdout) as unknown[]).length).toBe(3);
  });
});
