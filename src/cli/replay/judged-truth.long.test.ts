import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";

import { runCli } from "../../../test/support/program/cli-run.ts";
import { episodesOf } from "../../backtest/score.ts";
import type { EventRecord } from "../../backtest/event-record.ts";
import { Replay } from "../../backtest/replay.ts";
import { scoreEpisodes } from "../../backtest/score.ts";
import { readLabels, type Truth } from "../../backtest/truth.ts";
import { createSystemClock, dayMs, hourMs, minuteMs } from "../../base/time.ts";
import { readEventFiles } from "./event-records.ts";
import type { JudgementVerdict } from "../../contract/judgement.ts";
import { onsetAtMs } from "../../evidence/onset.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import { openStore } from "../../store/open.ts";
import type { Store } from "../../store/store.ts";
import { firingAlert } from "../../../test/support/firing-alert.ts";

const records = fileURLToPath(new URL("../../../examples/records", import.meta.url));
const clock = createSystemClock();
// The rule finds all incidents, so that people can judge all of them.
const thresholds = { windowHours: 24, baselineDays: 7, warnMultiplier: 2, failMultiplier: 4, minSpikeCount: 10 };
const policy = { forMs: 0, keepFiringForMs: 0, unknownAfter: 3, repeatIntervalMs: 0, minBaselineCoverage: 0 };

let folder: string;
const run = (line: readonly string[]) => runCli(line, { cwd: folder });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-judged-"));
  await cp(records, folder, { recursive: true });
  await writeFile(
    join(folder, "flatline.yaml"),
    "source: { type: embedded }\norganizations: [riskhosts, lightswitch]\nstorage: { path: flatline.db }\n",
  );
  await run(["import", "events", "riskhosts.csv.gz", "lightswitch.csv.gz"]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The alerts that an hourly daemon would have stored. */
function alertsOf(record: EventRecord): Alert[] {
  const expected = new Map<number, number>();
  const schedule = { pattern: "0 * * * *", timezone: "UTC", jitterMs: 0 };
  const rule = { baseline: "median", count: "deaths", thresholds, policy, schedule, maxSilenceMs: null } as const;
  const replay = new Replay(record, { slug: record.slug, ...rule });
  const untilMs = (record.seenAtMs.at(-1) ?? 0) + dayMs;
  for (let atMs = Math.ceil((record.seenAtMs[0] ?? 0) / hourMs) * hourMs + 8 * dayMs; atMs <= untilMs; atMs += hourMs)
    expected.set(atMs, replay.run(atMs).expectedCount);
  return episodesOf(replay).map(({ alertId, firedAtMs, endsAtMs }): Alert => {
    const onset = onsetAtMs({
      buckets: bucketsOf(record, firedAtMs - dayMs, firedAtMs),
      windowMs: dayMs,
      expectedCount: expected.get(firedAtMs) ?? 0,
    });
    const alert = firingAlert(alertId, firedAtMs, {
      slug: record.slug,
      windowHours: thresholds.windowHours,
      ...(onset === null ? {} : { onset: { atMs: onset, marker: null } }),
    });
    return { ...alert, end: { atMs: endsAtMs, isByRun: true } };
  });
}

function bucketsOf({ deathAtMs, deathsBefore }: EventRecord, afterMs: number, untilMs: number) {
  const minutes = new Map<number, number>();
  for (const [index, atMs] of deathAtMs.entries()) {
    if (atMs <= afterMs || atMs > untilMs) continue;
    const minute = Math.floor(atMs / minuteMs) * minuteMs;
    const deaths = (deathsBefore[index + 1] ?? 0) - (deathsBefore[index] ?? 0);
    minutes.set(minute, (minutes.get(minute) ?? 0) + deaths);
  }
  return [...minutes].map(([atMs, deaths]) => ({ atMs, deaths }));
}

/** The verdict of a person who knows the labels; null: the alert is about no labelled episode. */
function verdictOf(alert: Alert, truth: Truth): "checker" | "real" | null {
  const endsAtMs = alert.end?.atMs ?? alert.startsAtMs;
  const episode = { alertId: alert.id, firedAtMs: alert.startsAtMs, endsAtMs };
  const { falseAlarms, onMassDeaths } = scoreEpisodes([
    { slug: alert.slug, episodes: [episode], truth, fromMs: 0, toMs: endsAtMs },
  ]);
  return falseAlarms === 0 ? "checker" : onMassDeaths > 0 ? "real" : null;
}

function judge(store: Store, alertId: string, verdict: JudgementVerdict): Promise<void> {
  return store.alerts.judge([alertId], { verdict, comment: null, by: "kim", note: null, atMs: clock.nowMs() });
}

it.each([
  ["--truth judged where nothing was judged", "tune --truth judged", 64, "is judged"],
  [
    "--truth judged over a file without a configuration",
    "backtest --events riskhosts.csv.gz --truth judged",
    64,
    "name its configuration with --config FILE",
  ],
  ["a truth that is none", "backtest --truth people", 64, "--truth is labels FILE, revived or judged"],
])("refuses %s", async (_what, line, code, message) => {
  const { exitCode, stdout, stderr } = await run(line.split(" "));

  expect([exitCode, stdout]).toEqual([code, ""]);
  expect(stderr).toContain(message);
});

it("chooses by judgements what it chooses by labels, when every episode of the labels is judged", async () => {
  const labels = readLabels(readFileSync(join(folder, "labels.json"), "utf8"), "labels.json");
  const files = { files: ["riskhosts.csv.gz", "lightswitch.csv.gz"].map((name) => join(folder, name)) };
  const options = { signal: new AbortController().signal, onProgress: () => undefined };
  const store = await openStore({ path: join(folder, "flatline.db"), clock });
  const counts = { checker: 0, real: 0 };
  for (const [slug, record] of await readEventFiles({ ...files, ...options })) {
    for (const kept of alertsOf(record)) {
      await store.alerts.save(kept);
      const verdict = verdictOf(kept, labels.get(slug) ?? { incidents: [], massDeaths: [] });
      if (verdict === null) continue;
      await judge(store, kept.id, verdict);
      counts[verdict]++;
    }
  }
  await store.close();
  const chosenBy = async (...flags: string[]): Promise<[object, string]> => {
    const { stdout, stderr } = await run(["tune", ...flags, "--json"]);
    const { chosen, yaml } = JSON.parse(stdout) as Record<string, object>;
    return [{ chosen, yaml }, stderr];
  };

  for (const budget of ["0.5", "0.05"]) {
    const [byLabels] = await chosenBy("--truth", "labels", "labels.json", "--max-false-alarms", budget);
    const [byJudgement, said] = await chosenBy("--truth", "judged", "--max-false-alarms", budget);

    expect(byJudgement).toEqual(byLabels);
    expect(said).toContain(
      `judged alerts: ${counts.checker} checker, ${counts.real} real, 0 expected; ` +
        "an alert that is not judged counts as false\n",
    );
  }

  // One organization as data: the alerts of one episode are one incident.
  const { stdout } = await run(["backtest", "riskhosts", "--truth", "judged", "--step", "1h", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({
    truth: "judged",
    judged: { expected: 0 },
    score: { incidents: 12 },
  });
}, 120_000);
