import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";

import { firingAlert } from "../../../test/support/firing-alert.ts";
import { runCli } from "../../../test/support/program/cli-run.ts";
import { createSystemClock } from "../../base/time.ts";
import { openStore } from "../../store/open.ts";

const records = fileURLToPath(new URL("../../../examples/records", import.meta.url));
const byLabels = "--truth labels labels.json";

let folder: string;
const run = (line: string) => runCli(line.split(" "), { cwd: folder });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-backtest-"));
  await cp(records, folder, { recursive: true });
  const rest = "thresholds: { minSpikeCount: 20 }";
  await configure("flatline.yaml", `{ slug: riskhosts, schedule: "0 * * * *", ${rest} }`);
  const median = `{ slug: riskhosts, schedule: "0 * * * *", baseline: median, ${rest}, alert: { for: 3h } }`;
  await configure("median.yaml", median);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Writes a configuration of one organization. */
function configure(file: string, organization: string): Promise<void> {
  const text = `source: { type: embedded }\norganizations: [${organization}]\nstorage: { path: flatline.db }\n`;
  return writeFile(join(folder, file), text);
}

interface Told {
  readonly incidents: readonly {
    readonly severity: string;
    readonly organizations: readonly string[];
    readonly startsAt: string;
    readonly told: readonly { readonly at: string; readonly event: string; readonly slug: string }[];
  }[];
  readonly messages: number;
  readonly score: {
    readonly found: number;
    readonly incidents: number;
    readonly delaySeconds: number;
    readonly missed: readonly object[];
  } | null;
}
interface Report extends Told {
  readonly truth: string | null;
  readonly events: number;
  readonly leftOut: readonly string[];
  readonly advice: Told | null;
  readonly organizations: readonly {
    readonly slug: string;
    readonly baseline: string;
    readonly count: string;
    readonly evaluations: Record<string, number>;
  }[];
}

async function report(line: string): Promise<Report> {
  const { exitCode, stdout, stderr } = await run(`backtest ${line} --json`);
  expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/ evaluations?\n(.*\n)*replayed in /)]);
  return JSON.parse(stdout) as Report;
}

const both = "--events riskhosts.csv.gz --events lightswitch.csv.gz --step 1h";

describe("backtest --events", () => {
  it("holds the built-in settings, others and the advice against labels, without configuration and store", async () => {
    const mean = await report(`${both} ${byLabels}`);
    const median = await report(`${both} ${byLabels} --setting baseline=median`);

    expect([mean.truth, mean.events]).toEqual(["labels", 49_393]);
    expect([mean, median, mean.advice].map((one) => [one?.score?.found, one?.score?.incidents])).toEqual([
      [20, 22],
      [22, 22],
      [22, 22],
    ]);
    expect(mean.score?.missed).toEqual([
      expect.objectContaining({ slug: "riskhosts", from: "2019-10-22T00:08:13.000Z" }),
      expect.objectContaining({ slug: "lightswitch", from: "2019-10-31T00:34:55.000Z" }),
    ]);
  });

  it("says which incidents would have been told, how many messages, and the same of the advice", async () => {
    const line = "backtest riskhosts --events riskhosts.csv.gz --step 1h --truth revived";

    const { stdout, stderr } = await run(`${line} --setting baseline=median --setting thresholds.minSpikeCount=20`);

    expect(stdout).toMatch(/^INCIDENT {2}WORST {2}DETECTED +FOR +ORGANIZATIONS\n/);
    expect(stdout).toMatch(/^ +\d+ {2}fail {3}2019-10-22T12:00:00Z {2}23\.0 h {2}riskhosts$/m);
    expect(stdout).toMatch(
      /^17 incidents, \d+ messages, 0\.\d\d messages a week\. 12 of 12 found, 0 missed, 1 false \(0\.01 a week/m,
    );
    expect(stdout).toMatch(
      /^With what `init` writes, the advice \(median of 28 days, ×2\.5, at least 20\): \d+ incidents/m,
    );
    expect(stderr).toMatch(
      /^4,083 events of 1 organization, 2018-\S+Z to \d{4}-\S+Z, 2,334 deaths\n25,716 evaluations\nreplayed in \d+\.\d s\n$/,
    );
  });

  it("compares the advice with the same stretch: from where its longer baseline is full", async () => {
    const rows = Array.from({ length: 40 }, (_, day) => `${atDay(day)},acme,`);
    for (const day of [12, 35]) rows.push(...Array.from({ length: 60 }, (_, index) => `${atDay(day)},acme,${index}`));
    await writeFile(join(folder, "two-spikes.csv"), `at,slug,asset\n${rows.join("\n")}\n`);
    const line = "--events two-spikes.csv --step 1h";
    const later = "2026-01-30T00:00:00.000Z";
    const ofOne = "1 incident, 2 messages, 1.40 messages a week.\n";
    const advised = `With what \`init\` writes, the advice (median of 28 days, ×2.5, at least 20): ${ofOne}`;

    const { stdout } = await run(`backtest ${line}`);
    const fromLater = await run(`backtest ${line} --from ${later}`);
    const { messages, advice } = await report(line);

    expect(stdout.split("\n\n")[1]).toBe(
      `2 incidents, 4 messages, 0.90 messages a week.
The advice can begin at 2026-01-30T00:00:00Z, when its baseline is full. The rule above, from then on: ${ofOne}${advised}`,
    );
    expect(fromLater.stdout.split("\n\n")[1]).toBe(`${ofOne}${advised}`);
    expect([messages, advice]).toMatchObject([4, { from: later, messages: 2, configured: { messages: 2 } }]);
  });

  it("keeps to a stretch, and prints what would have been told as CSV", async () => {
    const stretch = "--from 2019-10-22T00:00:00Z --to 2019-10-23T00:00:00Z";
    const line = `--events riskhosts.csv.gz --step 6h --setting baseline=median ${stretch}`;

    expect((await report(line)).organizations[0]?.evaluations).toEqual({ ok: 2, warn: 0, fail: 3, unknown: 0 });
    expect((await run(`backtest ${line} --csv`)).stdout).toBe(
      "at,incident,organization,event,severity,reason\n2019-10-22T12:00:00.000Z,1,riskhosts,firing,fail,not_ok\n",
    );
  });
});

it("backtest over the store goes by the schedule, thresholds and alerts of the configuration", async () => {
  await run("import events riskhosts.csv.gz lightswitch.csv.gz");

  const mean = await report(`-c flatline.yaml ${byLabels}`);
  const median = await report(`-c median.yaml ${byLabels}`);

  expect([mean, median].map(({ organizations: [one], score }) => [one?.baseline, score?.found])).toEqual([
    ["mean", 11],
    ["median", 12],
  ]);
  // `for: 3h` delays every alert by three hours.
  expect((median.score?.delaySeconds ?? 0) - (mean.score?.delaySeconds ?? 0)).toBeCloseTo(3 * 3_600, -3);
});

describe("where assets are counted", () => {
  beforeAll(async () => {
    await configure("flaps.yaml", "{ slug: flaps, baseline: median, count: assets }");
    const { rows, breakAtMs } = flappingChecker();
    await writeFile(join(folder, "flaps.csv"), `at,slug,asset,status\n${rows.join("\n")}\n`);
    const from = new Date(breakAtMs).toISOString();
    await writeFile(join(folder, "flaps.json"), JSON.stringify({ flaps: { incidents: [{ from, to: from }] } }));
    await run("import events -c flaps.yaml flaps.csv");
  });

  it("backtest finds what deaths hide, and check says the same", async () => {
    const line = "--step 1h --truth labels flaps.json";
    const fromFile = (count: string) =>
      report(`${line} --events flaps.csv --setting baseline=median --setting count=${count}`);

    const [deaths, assets] = [await fromFile("deaths"), await fromFile("assets")];
    const stored = await report(`-c flaps.yaml ${line}`);
    const [firing] = stored.incidents[0]?.told ?? [];
    const { stdout } = await run(`check -c flaps.yaml --at ${firing?.at ?? ""} --json`);

    expect([deaths, assets].map(({ score, incidents }) => [score?.found, incidents.length])).toEqual([
      [0, 0],
      [1, 1],
    ]);
    expect(stored.organizations).toMatchObject([{ count: "assets" }]);
    expect(stored.incidents).toEqual(assets.incidents);
    expect(JSON.parse(stdout)).toMatchObject([{ severity: "warn", result: { observed: { counting: "assets" } } }]);
  });
});

describe("backtest says the likely cause of each incident", () => {
  beforeAll(async () => {
    const rows = Array.from({ length: 33 * 10 }, (_, index) => `${atDay(Math.floor(index / 10))},broken,,gone`);
    for (let index = 0; index < 60; index++)
      rows.push(`${atDay(33)},broken,b${index},${index < 50 ? "captcha" : "gone"}`);
    await writeFile(join(folder, "broken.csv"), `at,slug,asset,attr.reason\n${rows.join("\n")}\n`);
    await configure("broken.yaml", "{ slug: broken, baseline: median }");
    await run("import events -c broken.yaml broken.csv");
  });

  it("as a check of that instant and the messages do, from a file and from the store", async () => {
    const line = "--step 1h --setting baseline=median";
    const fromFile = await report(`${line} --events broken.csv`);
    const stored = await report(`-c broken.yaml ${line}`);
    const { stdout } = await run(`backtest ${line} --events broken.csv`);
    const check = await run(`check -c broken.yaml --at ${fromFile.incidents[0]?.told[0]?.at ?? ""} --json`);

    expect(fromFile.incidents).toMatchObject([
      { likelyCause: "checker", carrier: { key: "reason", value: "captcha", share: 50 / 60, usualShare: 0 } },
    ]);
    expect(stored.incidents).toEqual(fromFile.incidents);
    expect(JSON.parse(check.stdout)).toMatchObject([
      { result: { observed: { likelyCause: "checker", carrier: "reason=captcha" } } },
    ]);
    expect(stdout.replaceAll("\u00a0", " ").split("\n\n")[1]).toBe(
      "Incident 1: The liveness checker is suspected: 83 % of these deaths share reason=captcha, usually none.",
    );
  });
});

/** Midnight of a day of 2026. */
function atDay(day: number): string {
  return new Date(Date.UTC(2026, 0, 1 + day)).toISOString();
}

/** The same 30 assets die and revive each hour of five weeks; then 50 others die within an hour and stay dead. */
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

describe("tune", () => {
  it("proposes settings that config check takes", async () => {
    const { exitCode, stdout } = await run(`tune --events riskhosts.csv.gz ${byLabels} --max-false-alarms 0.1`);

    expect(exitCode).toBe(0);
    const [table = "", yaml = ""] = stdout.split(/\n\n(?=defaults:)/);
    expect(table).toMatch(/^\* {2}median of 28 days, ×2\.5, at least 20 +12 of 12 +1\.00 +0\.01 +0\.03 /m);
    expect(table).toContain("This is the advice, what `init` writes.");
    const { defaults } = parse(yaml) as { defaults: { baseline: string; thresholds: Record<string, number> } };
    expect(defaults).toMatchObject({
      baseline: "median",
      thresholds: { minSpikeCount: 20, windowHours: 24, baselineDays: 28 },
    });
    expect(defaults.thresholds["failMultiplier"]).toBeGreaterThan(defaults.thresholds["warnMultiplier"] ?? 0);
    await writeFile(join(folder, "tuned.yaml"), `source: { type: embedded }\norganizations: [riskhosts]\n${yaml}`);
    expect((await run("config check -c tuned.yaml")).exitCode).toBe(0);
  });

  it("answers with data, by assets found alive when no truth is named, for the named organizations", async () => {
    const { stdout } = await run("tune riskhosts --events riskhosts.csv.gz --json");

    const found = JSON.parse(stdout) as { truth: string; yaml: string; candidates: unknown[]; chosen: object };
    expect(found).toMatchObject({
      truth: "revived",
      chosen: { baseline: "median", thresholds: { baselineDays: 28, warnMultiplier: 2.5, minSpikeCount: 20 } },
      adviceAsGood: true,
    });
    expect(found.candidates).toHaveLength(141);
    expect(parse(found.yaml)).toMatchObject({ organizations: [{ slug: "riskhosts", baseline: "median" }] });
  });
});

const ofRiskhosts = "backtest --events riskhosts.csv.gz";
const refusals: readonly (readonly [string, string, number, string])[] = [
  ["a remote source without a file", "backtest -c remote.yaml", 64, "give them with --events FILE"],
  ["labels that are not there", `${ofRiskhosts} --truth labels none.json`, 66, "none.json: cannot be read"],
  ["--truth labels without a file", `${ofRiskhosts} --truth labels`, 64, "--truth is labels FILE"],
  ["a configuration of others", `${ofRiskhosts} -c others.yaml`, 64, "names no organization"],
  ["a stretch without an evaluation", `${ofRiskhosts} --from 2030-01-01T00:00:00Z`, 64, "nothing to replay"],
  ["a bad line of events", "backtest --events bad.csv", 65, "bad.csv:2"],
  [
    "a setting that is none",
    `${ofRiskhosts} --setting thresholds.fail=3`,
    64,
    '--setting thresholds.fail: unknown key; did you mean "failMultiplier"?',
  ],
  ["--truth judged where nothing was judged", "tune --truth judged", 64, "is judged"],
  [
    "--truth judged without a configuration",
    `${ofRiskhosts} --truth judged`,
    64,
    "its configuration with --config FILE",
  ],
  ["a truth that is none", "backtest --truth people", 64, "--truth is labels FILE, revived or judged"],
  ["a setting without a value", `${ofRiskhosts} --setting baseline`, 64, "--setting is PATH=VALUE"],
  [
    "assets that are counted against a mean",
    `${ofRiskhosts} --setting count=assets`,
    64,
    "give --setting baseline=median",
  ],
  [
    "tune without an incident",
    "tune --events quiet.csv --setting thresholds.baselineDays=7",
    64,
    "no incident to tune by",
  ],
  [
    "tune with too few days for the advice",
    "tune --events quiet.csv",
    64,
    "--setting thresholds.baselineDays=7 makes the baseline shorter",
  ],
];

describe("backtest, tune and check refuse", () => {
  beforeAll(async () => {
    const quiet = Array.from({ length: 20 }, (_, day) => `2026-01-${String(day + 1).padStart(2, "0")}T00:00:00Z,acme`);
    await writeFile(join(folder, "quiet.csv"), `at,slug\n${quiet.join("\n")}\n`);
    await writeFile(join(folder, "bad.csv"), "at,slug\nyesterday,acme\n");
    await writeFile(join(folder, "others.yaml"), "source: { type: embedded }\norganizations: [globex]\n");
    const remote = "source: { baseUrl: https://a.example/api/v2, apiKey: k }\norganizations: [riskhosts]\n";
    await writeFile(join(folder, "remote.yaml"), remote);
  });

  it.each(refusals)("%s", async (_what, line, code, message) => {
    const { exitCode, stdout, stderr } = await run(line);

    expect([exitCode, stdout]).toEqual([code, ""]);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

it("backtest and tune go by what people said of incidents", async () => {
  await run("import events riskhosts.csv.gz");
  const store = await openStore({ path: join(folder, "flatline.db"), clock: createSystemClock() });
  const end = { atMs: Date.parse("2019-10-23T11:00:00Z"), isByRun: true };
  await store.alerts.save(firingAlert("a", Date.parse("2019-10-22T12:00:00Z"), { slug: "riskhosts", end }));
  await store.alerts.judge(["a"], { verdict: "checker", comment: null, by: "kim", note: null, atMs: end.atMs });
  await store.close();

  const judged = await report("riskhosts --truth judged --setting baseline=median");
  const { stderr } = await run("tune riskhosts --truth judged --json");

  expect(judged).toMatchObject({ truth: "judged", judged: { checker: 1 }, score: { found: 1, incidents: 1 } });
  expect(stderr).toContain(
    "judged alerts: 1 checker, 0 real, 0 expected; an alert that is not judged counts as false\n",
  );
});
