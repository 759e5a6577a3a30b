// How often a second opinion says what was the case: replays the project's records, and looks at the dead of each alarm when it
// fires, with probers that are made up. node bench/verify.ts [--quick]
import { readFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

import { createSystemClock, dayMs, hourMs, type Clock } from "../src/base/time.ts";
import type { LookAnswer } from "../src/contract/second-opinion.ts";
import { createAlertAssets } from "../src/daemon/evidence/alert-assets.ts";
import { createControls } from "../src/look/controls.ts";
import { planLook, type Planned } from "../src/look/plan.ts";
import type { LookSettings } from "../src/look/settings.ts";
import { judgeLook } from "../src/look/verdict.ts";
import { openStore } from "../src/store/open.ts";
import type { AlertState } from "../src/store/alerts/alerts.ts";
import type { LivenessEvent } from "../src/store/events/events.ts";
import { readRecords, recordFiles, recordsFolder } from "./detection/records.ts";
import { detectionRules, episodesOf } from "./detection/rules.ts";
import { randomOf } from "./harness/measure.ts";
import { table } from "./harness/table.ts";

const seed = 20_261_127; // Any will do.
const windowHours = 24;
// A name that is back after months may be a new one, as in `--truth regret`.
const aliveWithinMs = 60 * dayMs;
const rules = ["flatline mean, ×2, min 10", "flatline median of 28 d, ×2.5, min 20"] as const;

const settings: LookSettings = {
  sample: 20,
  control: 20,
  againMs: hourMs,
  dns: { servers: [] },
  http: null,
  verifier: null,
  recorded: null,
  hosts: [],
  sentinelsOf: () => [],
};

/** Probabilities of answers of what lives and of what is dead; the rest is `undecided`. */
interface ProberModel {
  readonly name: string;
  readonly living: Readonly<Partial<Record<LookAnswer, number>>>;
  readonly dead: Readonly<Partial<Record<LookAnswer, number>>>;
  /** Those of which the record knows at that time, 20 of each kind as they would be with more looks, or none. */
  readonly controls: "known" | "full" | "none";
}

const kinds = {
  "right in 0.9, else undecided": { living: { answers: 0.9 }, dead: { gone: 0.9 } },
  "right in 0.9, else the opposite": { living: { answers: 0.9, gone: 0.1 }, dead: { gone: 0.9, answers: 0.1 } },
  "0.9 of the living answer; of the dead half show it, 0.1 answer": {
    living: { answers: 0.9 },
    dead: { gone: 0.5, answers: 0.1 },
  },
  "blocked: 0.1 of the living answer, 0.05 seem gone": { living: { answers: 0.1, gone: 0.05 }, dead: { gone: 0.9 } },
};
const models: readonly ProberModel[] = (["full", "known", "none"] as const).flatMap((controls) =>
  Object.entries(kinds).map(([name, kind]) => ({ name: `${name}; ${controls}`, ...kind, controls })),
);

/** An alarm of a rule. */
type Alarm = Readonly<{ rule: string; slug: string; atMs: number }>;

/** Of some alarms of one truth: how often the verdict was which, summed over the repetitions. */
interface Tally {
  alarms: number;
  right: number;
  wrong: number;
  runs: number;
  /** Looks with ten assets, and with ten controls of each kind, of which the record knows. */
  asked: number;
  controlled: number;
}

const none: Tally = { alarms: 0, right: 0, wrong: 0, runs: 0, asked: 0, controlled: 0 };

const isQuick = process.argv.includes("--quick");
const times = isQuick ? 1 : 20;
const tallies = await measure((await alarmsOf()).filter((_, index) => !isQuick || index % 20 === 0));
for (const rule of rules) console.log(tableOf(rule));

function tableOf(rule: string): string {
  const rows = models.map(({ name }) => {
    const [checker = none, assets = none] = ["checker", "assets"].map((truth) => tallies.get(keyOf(rule, truth, name)));
    const sum = (key: keyof Tally): number => checker[key] + assets[key];
    const share = (key: "right" | "wrong"): string => (sum(key) / sum("runs")).toFixed(2);
    const wrong = [checker, assets].map((one) => `${(one.wrong / times).toFixed(1)} of ${one.alarms}`);
    return { sum, cells: [name, share("right"), share("wrong"), ...wrong] };
  });
  const sum = (key: keyof Tally): number => rows[0]?.sum(key) ?? 0;
  const asked = `looks with ten assets to ask: ${(sum("asked") / times).toFixed(0)}`;
  const controlled = `with ten known controls of each kind: ${(sum("controlled") / times).toFixed(0)}`;
  const head = [
    "prober; controls",
    "right",
    "wrong",
    "a broken checker called real",
    "real deaths called the checker's",
  ];
  const cells = rows.map((one) => one.cells);
  return `\n${rule}: ${sum("alarms")} alarms; ${asked}, ${controlled}\n\n${table(head, cells)}`;
}

/** All alarms of the rules in the order of time, by an evaluation each hour. */
async function alarmsOf(): Promise<readonly Alarm[]> {
  const alarms = (await readRecords()).flatMap((record) => {
    const stretch = { fromMs: record.seenAtMs[0] ?? 0, toMs: (record.seenAtMs.at(-1) ?? 0) + dayMs };
    const episodes = episodesOf(record, stretch);
    return rules.flatMap((rule) =>
      (episodes[detectionRules.findIndex(({ name }) => name === rule)] ?? []).map(({ firedAtMs }) => ({
        rule,
        slug: record.slug,
        atMs: firedAtMs,
      })),
    );
  });
  return alarms.toSorted((left, right) => left.atMs - right.atMs);
}

async function measure(alarms: readonly Alarm[]): Promise<ReadonlyMap<string, Tally>> {
  const events = recordFiles.flatMap(readEvents).toSorted((left, right) => left.atMs - right.atMs);
  const lives = truthOf(events);
  const random = randomOf(seed);
  const tallies = new Map<string, Tally>();
  await using folder = await mkdtempDisposable(join(tmpdir(), "flatline-verify-"));
  let nowMs = 0;
  const clock: Clock = { ...createSystemClock(), nowMs: () => nowMs };
  const store = await openStore({ path: join(folder.path, "flatline.db"), clock });
  const assets = createAlertAssets({ store, clock, isOurs: () => true });
  const sources = {
    ...createControls(store.evidence, clock),
    diedIn: (id: string) => assets.diedIn(id),
    takeHost: async () => Promise.resolve(true),
  };
  let stored = 0;
  for (const [index, { rule, slug, atMs }] of alarms.entries()) {
    nowMs = atMs;
    // What comes later is not known yet: who is alive again then must still count as dead.
    const until = events.findIndex((event, place) => place >= stored && event.atMs > nowMs);
    const end = until === -1 ? events.length : until;
    await store.events.add(events.slice(stored, end));
    stored = end;
    const alert = alertOf(`${slug}-${index}`, slug, atMs);
    await store.alerts.end(alert, { atMs, isByRun: true, baselineExclusion: null });
    const died = ((await assets.diedIn(alert.id)) ?? []).filter(({ isUndone }) => !isUndone);
    const alive = died.filter(({ asset }) => lives(slug, asset, nowMs)).length;
    const truth = alive > died.length / 2 ? "checker" : "assets";
    for (const model of models) {
      const key = keyOf(rule, truth, model.name);
      const tally = tallies.get(key) ?? { ...none };
      tallies.set(key, { ...tally, alarms: tally.alarms + 1 });
    }
    for (let time = 0; time < times; time++) {
      const plan = await planLook([{ alert, end: null }], settings, sources, random);
      for (const model of models) {
        const tally = tallies.get(keyOf(rule, truth, model.name));
        if (tally === undefined) continue;
        const verdict = lookAt(plan, model, (one) => lives(one.slug, one.asset, nowMs), random);
        tally.runs++;
        const has = (role: Planned["role"]): boolean => plan.filter((one) => one.role === role).length >= 10;
        if (has("sample")) tally.asked++;
        if (has("alive") && has("dead")) tally.controlled++;
        if (verdict !== "undecided") tally[(verdict === "refuted") === (truth === "checker") ? "right" : "wrong"]++;
      }
    }
  }
  await store.close();
  return tallies;
}

/** What a look of a made-up prober says; controls that the events call alive are. */
function lookAt(
  plan: readonly Planned[],
  model: ProberModel,
  lives: (asset: Planned) => boolean,
  random: () => number,
): ReturnType<typeof judgeLook>["verdict"] {
  const { controls } = model;
  const all = [
    ...plan.map((one) => ({ role: one.role, isAlive: one.role === "alive" || lives(one) })),
    ...Array.from({ length: controls === "full" ? 2 * settings.control : 0 }, (_, index) => {
      const isAlive = index % 2 === 0;
      return { role: isAlive ? ("alive" as const) : ("dead" as const), isAlive };
    }),
  ].filter(({ role }, index) => role === "sample" || controls === "known" || index >= plan.length);
  const answers = all.map(({ role, isAlive }) => {
    const answer = draw(isAlive ? model.living : model.dead, random);
    return { role, answer, isAsked: true, isSentinel: false };
  });
  return judgeLook(answers, false).verdict;
}

function draw(shares: Readonly<Partial<Record<LookAnswer, number>>>, random: () => number): LookAnswer {
  let left = random();
  for (const [answer, share] of Object.entries(shares)) if ((left -= share) < 0) return answer as LookAnswer;
  return "undecided";
}

/** What is known with hindsight: whether an asset that was dead by the events lived at an instant all the same. */
function truthOf(events: readonly LivenessEvent[]): (slug: string, asset: string, atMs: number) => boolean {
  const byAsset = Map.groupBy(events, ({ slug, asset }) => `${slug} ${asset}`);
  return (slug, asset, atMs) => {
    const own = byAsset.get(`${slug} ${asset}`) ?? [];
    const died = own.findLast((event) => event.atMs <= atMs && event.status === "DETECTED_AS_DEAD");
    const next = own.find((event) => event.atMs > atMs && event.status === "DETECTED_AS_ALIVE");
    return died !== undefined && next !== undefined && next.atMs - died.atMs <= aliveWithinMs;
  };
}

function readEvents(file: string): LivenessEvent[] {
  const slug = file.split(".")[0] ?? "";
  const lines = gunzipSync(readFileSync(`${recordsFolder}${file}`))
    .toString()
    .trimEnd()
    .split("\n")
    .slice(1);
  return lines.map((line) => {
    const [at = "", , assetType = null, hash = "", status = ""] = line.split(",");
    // The records have hashes; a look is at host names.
    return { slug, atMs: Date.parse(at), assetType, asset: `${hash}.example`, status, id: null, count: 1 };
  });
}

function alertOf(id: string, slug: string, atMs: number): AlertState {
  const peak = { severity: "fail", currentCount: null, atMs } as const;
  const check = "dead-asset-spike";
  const state = { kind: "verdict", state: "firing", severity: "fail", reason: "not_ok" } as const;
  const times = { startsAtMs: atMs, firingAtMs: atMs, okSinceMs: null, unknownRuns: 0, windowHours };
  return { id, check, slug, ...state, ...times, peak, acknowledgement: null };
}

function keyOf(...parts: readonly string[]): string {
  return parts.join("\n");
}
