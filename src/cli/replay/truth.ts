import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { EventRecord } from "../../backtest/event-record.ts";
import { isSpike, judgedTruth, type JudgedTruth } from "../../backtest/judged-truth.ts";
import { readLabels, regretTruth, type Truth } from "../../backtest/truth.ts";
import { FlatlineError, messageOf } from "../../base/errors.ts";
import type { Config } from "../../config/config.ts";
import type { PartsDeps } from "../../daemon/parts.ts";
import { withStore } from "../read-store.ts";

/** Where the truth comes from: a file, later events, or judgements. */
export type TruthKind = "labels" | "regret" | "judged";

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

/** The place of a truth. */
export type TruthPlace =
  /** The events themselves. */
  | { readonly kind: "regret" }
  | { readonly kind: "labels"; readonly file: string }
  /** The store of a configuration. */
  | { readonly kind: "judged"; readonly config: Config };

// More than a store keeps in 90 days of a fleet.
const mostEnded = 100_000;
const defaultWindowHours = 24;

/** Returns where the truth is. @throws usage without a file or store */
export function truthPlace(kind: TruthKind, labels: string | null, config: Config | null): TruthPlace {
  if (kind === "regret") return { kind };
  if (kind === "labels") {
    if (labels === null) throw new FlatlineError("usage", "--truth labels needs a file: --labels FILE");
    return { kind, file: labels };
  }
  if (config === null)
    throw new FlatlineError(
      "usage",
      "--truth judged reads the judgements of a store: beside --events, name its configuration with --config FILE",
    );
  return { kind, config };
}

/** Reads the truth about the replayed organizations. @throws no_input, invalid_data, store_*, usage where nothing is judged */
export async function readTruth(
  place: TruthPlace,
  records: readonly EventRecord[],
  deps: PartsDeps,
): Promise<ReadTruth> {
  if (place.kind === "labels") return readLabelsFile(place.file, deps);
  if (place.kind === "judged") return readJudged(place.config, new Set(records.map(({ slug }) => slug)), deps);
  return always(new Map(records.map((record) => [record.slug, regretTruth(record)])));
}

function always(truths: ReadonlyMap<string, Truth>): ReadTruth {
  return { truths, sinceMs: null, judged: null };
}

async function readLabelsFile(file: string, { cwd }: PartsDeps): Promise<ReadTruth> {
  const text = await readFile(resolve(cwd, file), "utf8").catch((error: unknown) => {
    throw new FlatlineError("no_input", `${file}: cannot be read: ${messageOf(error)}`, { cause: error });
  });
  return always(readLabels(text, file));
}

async function readJudged(config: Config, slugs: ReadonlySet<string>, deps: PartsDeps): Promise<ReadTruth> {
  const windows = new Map(config.organizations.map(({ slug, thresholds }) => [slug, thresholds.windowHours]));
  const { judged, fired } = await withStore(config, deps, async ({ alerts }) => ({
    judged: (await alerts.judged()).filter(({ alert }) => slugs.has(alert.slug)),
    fired: [
      ...(await alerts.allLive()).filter(({ state }) => state === "firing"),
      ...(await alerts.allEnded({ fromMs: 0, limit: mostEnded })).map(({ alert }) => alert),
    ].filter((alert) => slugs.has(alert.slug) && isSpike(alert)),
  }));
  const windowHoursOf = (slug: string): number => windows.get(slug) ?? defaultWindowHours;
  const { truths, counts, sinceMs } = judgedTruth(judged, { nowMs: deps.clock.nowMs(), windowHoursOf });
  if (sinceMs === null) {
    const kept = fired.length === 0 ? "the store has no alert of them" : `${fired.length} are kept, none is judged`;
    throw new FlatlineError(
      "usage",
      `no alert of dead-asset-spike of the replayed organizations is judged (${kept}): ` +
        "judge them with `flatline incidents judge ID checker|real|expected`, or take --truth regret",
    );
  }
  const unjudged = fired.filter(({ judgement }) => judgement === undefined).length;
  return { truths, sinceMs, judged: { ...counts, unjudged } };
}
