import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { EventRecord } from "../../backtest/event-record.ts";
import { judgedTruth } from "../../backtest/judged-truth.ts";
import { readLabels, revivedTruth } from "../../backtest/truth.ts";
import { FlatlineError, messageOf } from "../../base/errors.ts";
import type { Config } from "../../config/config.ts";
import type { PartsDeps } from "../../daemon/parts.ts";
import { withStore } from "../read-store.ts";

/** The origin of the truth: a file, later events, or judgements; null: there is none. */
export type TruthKind = "labels" | "revived" | "judged" | null;

/** Parses the words of `--truth`: its kind, the file after `labels`, and the words that follow. @throws usage */
export function truthOf(words: readonly string[] | undefined, usual: TruthKind) {
  const [kind = usual, ...rest] = words ?? [];
  if (kind === null || kind === "revived" || kind === "judged") return { kind, file: "", rest };
  const [file, ...others] = rest;
  if (kind === "labels" && file !== undefined) return { kind, file, rest: others };
  throw new FlatlineError("usage", `--truth is labels FILE, revived or judged, not '${[kind, ...rest].join(" ")}'`);
}

const defaultWindowHours = 24;

/** Reads the truth about the organizations. @throws no_input, invalid_data, store_*, usage without judgements */
export async function readTruth(
  { kind, file }: Pick<ReturnType<typeof truthOf>, "kind" | "file">,
  records: readonly EventRecord[],
  config: Config | null,
  deps: PartsDeps,
) {
  if (kind === "judged") return readJudged(config, new Set(records.map(({ slug }) => slug)), deps);
  const unjudged = { sinceMs: null, judged: null };
  if (kind === null) return { truths: null, ...unjudged };
  if (kind === "revived") return { truths: new Map(records.map((one) => [one.slug, revivedTruth(one)])), ...unjudged };
  const text = await readFile(resolve(deps.cwd, file), "utf8").catch((error: unknown) => {
    throw new FlatlineError("no_input", `${file}: cannot be read: ${messageOf(error)}`, { cause: error });
  });
  return { truths: readLabels(text, file), ...unjudged };
}

async function readJudged(config: Config | null, slugs: ReadonlySet<string>, deps: PartsDeps) {
  if (config === null)
    throw new FlatlineError(
      "usage",
      "--truth judged reads the judgements of a store: beside --events, name its configuration with --config FILE",
    );
  const windows = new Map(config.organizations.map(({ slug, thresholds }) => [slug, thresholds.windowHours]));
  const alerts = await withStore(config, deps, (store) => store.alerts.judged());
  const { truths, counts, sinceMs } = judgedTruth(
    alerts.filter(({ slug }) => slugs.has(slug)),
    { nowMs: deps.clock.nowMs(), windowHoursOf: (slug) => windows.get(slug) ?? defaultWindowHours },
  );
  if (sinceMs === null)
    throw new FlatlineError(
      "usage",
      "no alert of dead-asset-spike of the replayed organizations is judged: " +
        "judge them with `flatline incidents judge ID checker|real|expected`, or take --truth revived",
    );
  return { truths, sinceMs, judged: counts };
}
