import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { EventRecord } from "../../backtest/event-record.ts";
import { isSpike, judgedTruth, type JudgedTruth } from "../../backtest/judged-truth.ts";
import { readLabels, revivedTruth, type Truth } from "../../backtest/truth.ts";
import { FlatlineError, messageOf } from "../../base/errors.ts";
import type { Config } from "../../config/config.ts";
import type { PartsDeps } from "../../daemon/parts.ts";
import { withStore } from "../read-store.ts";

/** Where the truth comes from: a file, later events, or judgements. */
export type TruthKind = "labels" | "revived" | "judged";
/** A truth that is asked for, with the file of labels. */
export interface AskedTruth {
  readonly kind: TruthKind;
  readonly file: string;
}

/**
 * Reads the words of `--truth`: its kind, the file after `labels`, and what else stands behind it.
 * @throws usage
 */
export function truthOf(
  words: readonly string[] | undefined,
  usual: TruthKind | null,
): { readonly truth: AskedTruth | null; readonly rest: readonly string[] } {
  const [kind = usual, ...rest] = words ?? [];
  if (kind === null) return { truth: null, rest };
  if (kind === "revived" || kind === "judged") return { truth: { kind, file: "" }, rest };
  const [file, ...others] = rest;
  if (kind === "labels" && file !== undefined) return { truth: { kind, file }, rest: others };
  throw new FlatlineError("usage", `--truth is labels FILE, revived or judged, not '${[kind, ...rest].join(" ")}'`);
}

/** Alerts of the replayed organizations, by what people said of them. */
export interface JudgedCounts extends Readonly<JudgedTruth["counts"]> {
  /** Not judged: an alert there counts as false. */
  readonly unjudged: number;
}

/** A truth to hold replays against. */
export interface ReadTruth {
  readonly truths: ReadonlyMap<string, Truth>;
  /** When it begins; null: with the events. */
  readonly sinceMs: number | null;
  /** null: not from judgements. */
  readonly judged: JudgedCounts | null;
}

// More than a store keeps in 90 days of a fleet.
const mostEnded = 100_000;
const defaultWindowHours = 24;

/** Reads the truth about the replayed organizations. @throws no_input, invalid_data, store_*, usage where nothing is judged */
export async function readTruth(
  { kind, file }: AskedTruth,
  records: readonly EventRecord[],
  config: Config | null,
  deps: PartsDeps,
): Promise<ReadTruth> {
  if (kind === "judged" && config !== null) return readJudged(config, new Set(records.map(({ slug }) => slug)), deps);
  if (kind === "judged")
    throw new FlatlineError(
      "usage",
      "--truth judged reads the judgements of a store: beside --events, name its configuration with --config FILE",
    );
  if (kind === "revived")
    return { truths: new Map(records.map((one) => [one.slug, revivedTruth(one)])), sinceMs: null, judged: null };
  const text = await readFile(resolve(deps.cwd, file), "utf8").catch((error: unknown) => {
    throw new FlatlineError("no_input", `${file}: cannot be read: ${messageOf(error)}`, { cause: error });
  });
  return { truths: readLabels(text, file), sinceMs: null, judged: null };
}

async function readJudged(config: Config, slugs: ReadonlySet<string>, deps: PartsDeps): Promise<ReadTruth> {
  const windows = new Map(config.organizations.map(({ slug, thresholds }) => [slug, thresholds.windowHours]));
  const { judged, fired } = await withStore(config, deps, async ({ alerts }) => ({
    judged: (await alerts.judged()).filter((alert) => slugs.has(alert.slug)),
    fired: [
      ...(await alerts.allLive()).filter(({ state }) => state === "firing"),
      ...(await alerts.ended({ fromMs: 0, limit: mostEnded })),
    ].filter((alert) => slugs.has(alert.slug) && isSpike(alert)),
  }));
  const windowHoursOf = (slug: string): number => windows.get(slug) ?? defaultWindowHours;
  const { truths, counts, sinceMs } = judgedTruth(judged, { nowMs: deps.clock.nowMs(), windowHoursOf });
  if (sinceMs === null) {
    const kept = fired.length === 0 ? "the store has no alert of them" : `${fired.length} are kept, none is judged`;
    throw new FlatlineError(
      "usage",
      `no alert of dead-asset-spike of the replayed organizations is judged (${kept}): ` +
        "judge them with `flatline incidents judge ID checker|real|expected`, or take --truth revived",
    );
  }
  const unjudged = fired.filter(({ judgement }) => judgement === undefined).length;
  return { truths, sinceMs, judged: { ...counts, unjudged } };
}
