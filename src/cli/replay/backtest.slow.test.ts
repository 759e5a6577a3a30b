import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";

import { runCli } from "../../../test/support/program/cli-run.ts";

const records = fileURLToPath(new URL("../../../examples/records", import.meta.url));
const hourly = ["--step", "1h", "--labels", "labels.json"];

let folder: string;
const run = (line: readonly string[]) => runCli(line, { cwd: folder });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-backtest-"));
  await cp(records, folder, { recursive: true });
  await writeFile(
    join(folder, "flatline.yaml"),
    `source: { type: embedded }
organizations:
  - { slug: riskhosts, schedule: "0 * * * *", thresholds: { minSpikeCount: 20 } }
storage: { path: flatline.db }
`,
  );
  await writeFile(
    join(folder, "median.yaml"),
    `source: { type: embedded }
organizations:
  - { slug: riskhosts, schedule: "0 * * * *", baseline: median, thresholds: { minSpikeCount: 20 }, alert: { for: 3h } }
storage: { path: flatline.db }
`,
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Level {
  readonly episodes: number;
  readonly episodesAWeek: number;
  readonly found?: number;
  readonly recall?: number;
  readonly falseAlarms?: number;
  readonly delaySeconds?: number;
  readonly missed?: readonly { readonly from: string }[];
}
interface Report {
  readonly truth: string | null;
  readonly events: number;
  readonly leftOut: readonly string[];
  readonly candidates: readonly {
    readonly name: string;
    readonly settings: object;
    readonly warn: Level;
    readonly fail: Level;
    readonly organizations: readonly {
      readonly slug: string;
      readonly baseline: string;
      readonly from: string;
      readonly evaluations: Record<string, number>;
      readonly episodes: { readonly warn: readonly { readonly from: string; readonly to: string | null }[] };
      readonly notices: readonly { readonly at: string; readonly event: string }[];
    }[];
  }[];
}

async function report(line: readonly string[]): Promise<Report> {
  const { exitCode, stdout, stderr } = await run(["backtest", ...line, "--json"]);
  expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/events, .* evaluations in /)]);
  return JSON.parse(stdout) as Report;
}

describe("backtest --events", () => {
  it("compares a grid over files, without a configuration and a store", async () => {
    const { truth, events, candidates } = await report([
      "--events",
      "riskhosts.csv.gz",
      "--events",
      "lightswitch.csv.gz",
      ...hourly,
      "--baseline",
      "mean,median",
      "--warn-multiplier",
      "2",
      "--fail-multiplier",
      "4",
    ]);

    expect([truth, events]).toEqual(["labels", 49_393]);
    expect(candidates.map(({ name, warn, fail }) => [name, warn.found, fail.found])).toEqual([
      ["mean warn ×2 fail ×4", 20, 16],
      ["median warn ×2 fail ×4", 22, 22],
    ]);
    expect(candidates[0]?.warn.missed).toEqual([
      expect.objectContaining({ slug: "riskhosts", from: "2019-10-22T00:08:13.000Z" }),
      expect.objectContaining({ slug: "lightswitch", from: "2019-10-31T00:34:55.000Z" }),
    ]);
  });

  it("shows a table, with one candidate its episodes, and a summary on stderr", async () => {
    const line = ["backtest", "riskhosts", "--events", "riskhosts.csv.gz", "--step", "1h", "--truth", "regret"];

    const { stdout, stderr } = await run([...line, "--baseline", "median", "--min-spike-count", "20"]);

    expect(stdout).toContain(
      "LEVEL  CANDIDATE      EPISODES  A WEEK     FOUND  RECALL  FALSE  FALSE A WEEK  WITH MASS DEATHS  DELAY\n",
    );
    expect(stdout).toMatch(/^fail {3}median min 20 +17 +0\.11 {2}12 of 12 +1\.00 +1 +0\.01 +0\.03 {2}1\.3 h$/m);
    expect(stdout).toMatch(/^fail {2}riskhosts {5}2019-10-22T12:00:00\.000Z {2}2019-10-23T11:00:00\.000Z {2}23\.0 h$/m);
    expect(stderr).toMatch(/^4,083 events, 25,716 evaluations in \d+\.\d s\n$/);
  });

  it("warns where warn is above fail, which hides every warn", async () => {
    const line = ["backtest", "--events", "riskhosts.csv.gz", "--step", "6h", "--warn-multiplier", "3,12"];

    const { exitCode, stderr } = await run(line);

    expect(exitCode).toBe(0);
    expect(stderr).toContain("warning: warn is above fail in 1 of 2 candidates (warn ×12): fail is tried first");
  });

  it("keeps to a stretch", async () => {
    const { candidates } = await report([
      "--events",
      "riskhosts.csv.gz",
      "--step",
      "6h",
      "--baseline",
      "median",
      "--from",
      "2019-10-22T00:00:00Z",
      "--to",
      "2019-10-23T00:00:00Z",
    ]);

    const [organization] = candidates[0]?.organizations ?? [];
    expect(organization?.evaluations).toEqual({ ok: 2, warn: 0, fail: 3, unknown: 0 });
    expect(organization?.notices.map(({ at, event }) => `${event} ${at}`)).toEqual(["firing 2019-10-22T12:00:00.000Z"]);
    expect(organization?.episodes.warn).toEqual([
      { alertId: "riskhosts-1", from: "2019-10-22T12:00:00.000Z", to: null },
    ]);
  });
});

describe("backtest over the store", () => {
  beforeAll(async () => {
    await run(["import", "events", "riskhosts.csv.gz", "lightswitch.csv.gz"]);
  });

  it("compares configurations by their own schedules, thresholds and alerts", async () => {
    const { candidates } = await report(["-c", "flatline.yaml", "-c", "median.yaml", "--labels", "labels.json"]);

    expect(candidates.map(({ name, organizations: [one], warn }) => [name, one?.baseline, warn.found])).toEqual([
      ["flatline.yaml", "mean", 11],
      ["median.yaml", "median", 12],
    ]);
    // `for: 3h` delays every alert by three hours.
    const [mean, median] = candidates.map(({ warn }) => warn.delaySeconds ?? 0);
    expect((median ?? 0) - (mean ?? 0)).toBeCloseTo(3 * 3_600, -3);
  });

  it("finds in the store what it finds in the file", async () => {
    const grid = ["--step", "1h", "--truth", "regret", "--min-spike-count", "20", "--warn-multiplier", "2"];

    const stored = await report(grid);
    const fromFile = await report(["riskhosts", "--events", "riskhosts.csv.gz", ...grid]);

    expect(stored.candidates).toEqual(fromFile.candidates);
  });
});

describe("where assets are counted", () => {
  beforeAll(async () => {
    const assets =
      "source: { type: embedded }\norganizations: [{ slug: flaps, baseline: median, count: assets }]\nstorage: { path: flatline.db }\n";
    await writeFile(join(folder, "flaps.yaml"), assets);
    const { rows, breakAtMs } = flappingChecker();
    await writeFile(join(folder, "flaps.csv"), `at,slug,asset,status\n${rows.join("\n")}\n`);
    const from = new Date(breakAtMs).toISOString();
    await writeFile(join(folder, "flaps.json"), JSON.stringify({ flaps: { incidents: [{ from, to: from }] } }));
    await run(["import", "events", "-c", "flaps.yaml", "flaps.csv"]);
  });

  it("backtest finds what deaths hide, and check says the same", async () => {
    const line = ["--events", "flaps.csv", "--labels", "flaps.json", "--step", "1h", "--baseline", "median"];

    const { candidates } = await report([...line, "--count", "deaths,assets"]);
    const stored = await report(["-c", "flaps.yaml", "--labels", "flaps.json", "--step", "1h"]);
    const [firing] = stored.candidates[0]?.organizations[0]?.notices ?? [];
    const { stdout } = await run(["check", "-c", "flaps.yaml", "--at", firing?.at ?? "", "--json"]);

    expect(candidates.map(({ name, warn }) => [name, warn.found, warn.episodes])).toEqual([
      ["median of deaths", 0, 0],
      ["median of assets", 1, 1],
    ]);
    expect(stored.candidates[0]?.organizations).toMatchObject([{ count: "assets" }]);
    expect(stored.candidates[0]?.warn).toEqual(candidates[1]?.warn);
    expect(JSON.parse(stdout)).toMatchObject([{ severity: "warn", result: { observed: { counting: "assets" } } }]);
  });

  it("tune leaves the mean out, says so in the YAML, and tries the advice of it", async () => {
    const line = ["tune", "--events", "flaps.csv", "--labels", "flaps.json", "--count", "assets", "--json"];

    const { exitCode, stdout, stderr } = await run(line);

    expect([exitCode, stderr.includes("Expected")]).toEqual([0, false]);
    const tuned = JSON.parse(stdout) as { yaml: string; adviceAsGood: boolean; candidates: { baseline: string }[] };
    expect(parse(tuned.yaml)).toMatchObject({ defaults: { baseline: "median", count: "assets" } });
    expect(tuned.adviceAsGood).toBe(true);
    expect(new Set(tuned.candidates.map(({ baseline }) => baseline))).toEqual(new Set(["median"]));
    const configured = await run(["tune", "-c", "flaps.yaml", "--labels", "flaps.json", "--json"]);
    expect(JSON.parse(configured.stdout)).toMatchObject({ chosen: { baseline: "median", count: "assets" } });
  });
});

/** Five weeks in which the same 30 assets die each hour and live again; then 50 others die within an hour, and stay dead. */
function flappingChecker(): { rows: string[]; breakAtMs: number } {
  const hourMs = 3_600_000;
  const startMs = Date.UTC(2026, 0, 1);
  const hours = 36 * 24;
  const breakHour = 33 * 24 + 10;
  const rows: string[] = [];
  for (let hour = 0; hour < hours; hour++) {
    const at = (minutes: number): string => new Date(startMs + hour * hourMs + minutes * 60_000).toISOString();
    for (let index = 0; index < 30; index++) {
      rows.push(`${at(5)},flaps,flaps-${index},DETECTED_AS_DEAD`, `${at(35)},flaps,flaps-${index},DETECTED_AS_ALIVE`);
    }
    if (hour !== breakHour) continue;
    for (let index = 0; index < 50; index++) rows.push(`${at(index)},flaps,broken-${index},DETECTED_AS_DEAD`);
  }
  return { rows, breakAtMs: startMs + breakHour * hourMs };
}

describe("check over what was backtested", () => {
  const at = ["check", "riskhosts", "--at", "2019-10-22T18:00:00Z", "--json"];
  const verdictOf = async (line: readonly string[]): Promise<unknown> => {
    const { stdout } = await run([...at, ...line]);
    return (JSON.parse(stdout) as unknown[])[0];
  };

  it("is ok by the mean, and fail by the median, of the configuration or of the flag", async () => {
    const observed = { currentCount: 30, baselineCount: 372 };
    const days = { day1: 0, day2: 283, day3: 0, day4: 89, day5: 0, day6: 0, day7: 0 };
    const failed = { severity: "fail", result: { observed: { ...observed, expectedCount: 0, ratio: null, ...days } } };

    expect(await verdictOf([])).toMatchObject({ severity: "ok", result: { observed } });
    expect(await verdictOf(["--baseline", "median"])).toMatchObject(failed);
    expect(await verdictOf(["-c", "median.yaml"])).toMatchObject(failed);
    expect(await verdictOf(["-c", "median.yaml", "--baseline", "mean"])).toMatchObject({ severity: "ok" });
  });
});

describe("tune", () => {
  it("proposes settings that config check takes", async () => {
    const line = ["tune", "--events", "riskhosts.csv.gz", "--labels", "labels.json", "--max-false-alarms", "0.1"];

    const { exitCode, stdout } = await run(line);

    expect(exitCode).toBe(0);
    const [table = "", yaml = ""] = stdout.split(/\n\n(?=defaults:)/);
    expect(table).toMatch(/^\* {2}median baseline 28d ×2\.5 min 20 +12 of 12 +1\.00 +0\.01 +0\.03 /m);
    expect(table).toContain("This is the advice.");
    const { defaults } = parse(yaml) as { defaults: { baseline: string; thresholds: Record<string, number> } };
    expect(defaults).toMatchObject({
      baseline: "median",
      thresholds: { minSpikeCount: 20, windowHours: 24, baselineDays: 28 },
    });
    expect(defaults.thresholds["failMultiplier"]).toBeGreaterThan(defaults.thresholds["warnMultiplier"] ?? 0);
    await writeFile(join(folder, "tuned.yaml"), `source: { type: embedded }\norganizations: [riskhosts]\n${yaml}`);
    expect((await run(["config", "check", "-c", "tuned.yaml"])).exitCode).toBe(0);
  });

  it("answers with data, by regret when no labels are given, for the organizations that are named", async () => {
    const { stdout } = await run([
      "tune",
      "riskhosts",
      "--events",
      "riskhosts.csv.gz",
      "--json",
      "--warn-multiplier",
      "2,4",
      "--min-spike-count",
      "20",
      "--baseline",
      "median",
    ]);

    const found = JSON.parse(stdout) as { truth: string; yaml: string; candidates: unknown[]; chosen: object };
    expect(found).toMatchObject({
      truth: "regret",
      chosen: { baseline: "median", thresholds: { baselineDays: 28, warnMultiplier: 2.5, minSpikeCount: 20 } },
      adviceAsGood: true,
      // Two multipliers over 7 and 28 days, and the advice.
      candidates: Array.from({ length: 5 }, () => ({ recall: 1, isOnFront: expect.any(Boolean) })),
    });
    expect(parse(found.yaml)).toMatchObject({ organizations: [{ slug: "riskhosts", baseline: "median" }] });
  });
});

describe("tune over half of the past", () => {
  it.each([["the advice among what it tries", [], { baselineDays: 28, warnMultiplier: 2.5, minSpikeCount: 20 }, true]])(
    "chooses a rule that finds as much in the other half: %s",
    async (_what, more, thresholds, adviceAsGood) => {
      const files = ["--events", "riskhosts.csv.gz", "--events", "lightswitch.csv.gz", "--labels", "labels.json"];
      const half = "2019-10-20T00:00:00Z";

      const tuned = JSON.parse((await run(["tune", ...files, "--to", half, "--json", ...more])).stdout) as {
        chosen: { baseline: string; thresholds: Record<string, number> };
      };
      const there = JSON.parse(
        (
          await run([
            "backtest",
            ...files,
            "--from",
            half,
            "--step",
            "1h",
            "--json",
            "--baseline",
            tuned.chosen.baseline,
            "--baseline-days",
            String(tuned.chosen.thresholds["baselineDays"]),
            "--warn-multiplier",
            String(tuned.chosen.thresholds["warnMultiplier"]),
            "--min-spike-count",
            String(tuned.chosen.thresholds["minSpikeCount"]),
          ])
        ).stdout,
      ) as { candidates: [{ warn: { found: number; incidents: number } }] };

      expect(tuned).toMatchObject({ chosen: { baseline: "median", thresholds }, adviceAsGood });
      // The quietest of equals, mean ×6, finds 5 of them.
      expect(there.candidates[0].warn).toMatchObject({ found: 11, incidents: 11 });
    },
  );
});

const refusals: readonly (readonly [string, string, number, string])[] = [
  ["a remote source without a file", "backtest -c remote.yaml", 64, "give them with --events FILE"],
  [
    "labels that are not there",
    "backtest --events riskhosts.csv.gz --labels none.json",
    66,
    "none.json: cannot be read",
  ],
  ["--truth labels without a file", "backtest --events riskhosts.csv.gz --truth labels", 64, "--labels FILE"],
  ["a configuration of others", "backtest --events riskhosts.csv.gz -c others.yaml", 64, "names no organization"],
  [
    "a stretch without an evaluation",
    "backtest --events riskhosts.csv.gz --from 2030-01-01T00:00:00Z",
    64,
    "nothing to replay",
  ],
  ["a bad line of events", "backtest --events bad.csv", 65, "bad.csv:2"],
  ["a grid that is none", "backtest --events riskhosts.csv.gz --warn-multiplier 2,x", 64, "Expected a number above 0"],
  ["--count assets with the mean", "backtest --events riskhosts.csv.gz --count assets", 64, "give --baseline median"],
  [
    "tune --count assets with the mean",
    "tune --events riskhosts.csv.gz --count assets --baseline mean,median",
    64,
    "riskhosts cannot be replayed with count assets and baseline mean",
  ],
  ["tune without an incident", "tune --events quiet.csv --baseline-days 7", 64, "no incident to tune by"],
  [
    "tune with too few days for the advice",
    "tune --events quiet.csv",
    64,
    "--baseline-days makes the baseline shorter",
  ],
  ["check --baseline median of a remote source", "check -c remote.yaml --baseline median", 64, "knows the mean only"],
];

describe("backtest, tune and check refuse", () => {
  beforeAll(async () => {
    const quiet = Array.from({ length: 20 }, (_, day) => `2026-01-${String(day + 1).padStart(2, "0")}T00:00:00Z,acme`);
    await writeFile(join(folder, "quiet.csv"), `at,slug\n${quiet.join("\n")}\n`);
    await writeFile(join(folder, "bad.csv"), "at,slug\nyesterday,acme\n");
    await writeFile(join(folder, "others.yaml"), "source: { type: embedded }\norganizations: [globex]\n");
    const remote = "source: { baseUrl: https://a.example/api/v2, apiKey: k }\norganizations: [riskhosts]\n";
    await writeFile(join(folder, "remote.yaml"), remote);
    const assets =
      "source: { type: embedded }\norganizations: [{ slug: riskhosts, baseline: median, count: assets }]\n";
    await writeFile(join(folder, "assets.yaml"), assets);
  });

  it.each(refusals)("%s", async (_what, line, code, message) => {
    const { exitCode, stdout, stderr } = await run(line.split(" "));

    expect([exitCode, stdout]).toEqual([code, ""]);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});
