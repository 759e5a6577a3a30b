import type { EventRecord } from "../../backtest/event-record.ts";
import { gridPoints, type Grid, type GridPoint } from "../../backtest/grid.ts";
import { FlatlineError } from "../../base/errors.ts";
import type { Config, OrganizationConfig } from "../../config/config.ts";
import { loadConfig, findConfigPath } from "../../config/load.ts";
import { builtinSettings } from "../../config/schema/organization.ts";
import type { EventLayout } from "../../store/events/layout.ts";
import { readEventFiles, readStoredRecord } from "./event-records.ts";
import type { PartsDeps } from "../../daemon/parts.ts";
import { joinDiscovered, withStore } from "../read-store.ts";
import { readTruth, truthPlace, type JudgedCounts, type TruthKind } from "./truth.ts";
import { runBacktest, type BacktestCandidate, type BacktestSettings, type BacktestVariant } from "./run-backtest.ts";

/** What a command asks for. */
export interface BacktestAsk {
  readonly slugs: readonly string[];
  /** None: the usual one, or with `eventFiles` the built-in settings. */
  readonly configFiles: readonly string[];
  /** None: the store of the first configuration. `-` is standard input. */
  readonly eventFiles: readonly string[];
  /** How the files are written. */
  readonly layout: EventLayout;
  readonly labels: string | null;
  /** null: labels where a file is given, else none. */
  readonly truth: TruthKind | null;
  readonly fromMs: number | null;
  readonly toMs: number | null;
  readonly stepMs: number | null;
  readonly grid: Grid;
}

export interface BacktestDeps extends PartsDeps {
  readonly stdin: NodeJS.ReadableStream;
  readonly signal: AbortSignal;
  /** Called with the progress in words; not for each step. */
  readonly onProgress: (text: string) => void;
}

export interface BacktestReport {
  readonly truth: TruthKind | null;
  /** null: the truth is not from judgements. */
  readonly judged: JudgedCounts | null;
  readonly events: number;
  readonly candidates: readonly BacktestCandidate[];
  /** Organizations without an evaluation: no event, or too few days of them for the baseline. */
  readonly leftOut: readonly string[];
}

/** Reads configurations, events and truth, and replays. @throws usage, invalid_config, invalid_data, no_input, store_* */
export async function backtest(
  ask: BacktestAsk,
  deps: BacktestDeps,
  pointsFor: (variants: readonly BacktestVariant[]) => readonly GridPoint[] = () => gridPoints(ask.grid),
): Promise<BacktestReport> {
  const truth = ask.truth ?? (ask.labels === null ? null : "labels");
  const configs = await readConfigs(ask, deps);
  const [main] = configs;
  const place = truth === null ? null : truthPlace(truth, ask.labels, main?.config ?? null);
  const isStored = ask.eventFiles.length === 0 && main !== undefined;
  const records = isStored ? await readStore(main.config, ask, deps) : await readFiles(ask, deps);
  const variants = variantsOf(configs, [...records.keys()], ask.slugs);
  const found = [...records.values()].filter(({ slug }) => isAsked(ask.slugs, slug));
  const known = place === null ? null : await readTruth(place, found, deps);
  const outcome = await runBacktest({
    ...ask,
    points: pointsFor(variants),
    variants,
    records,
    truths: known?.truths ?? null,
    sinceMs: known?.sinceMs ?? null,
    clock: deps.clock,
    signal: deps.signal,
    onProgress: ({ done, total, slug }) => deps.onProgress(`replayed ${done} of ${total}: ${slug}`),
  });
  return {
    truth,
    judged: known?.judged ?? null,
    events: found.reduce((sum, { seenAtMs }) => sum + seenAtMs.length, 0),
    ...outcome,
  };
}

interface NamedConfig {
  readonly name: string;
  readonly config: Config;
}

async function readConfigs({ configFiles, eventFiles }: BacktestAsk, deps: BacktestDeps): Promise<NamedConfig[]> {
  const { cwd, env } = deps;
  // A file of events is looked at without whatever happens to be configured here.
  if (configFiles.length === 0 && eventFiles.length > 0) return [];
  const flags = configFiles.length === 0 ? [undefined] : configFiles;
  const configs: NamedConfig[] = [];
  for (const flag of flags) {
    const path = await findConfigPath({ flag, env, cwd });
    const { config } = await joinDiscovered(await loadConfig({ path, cwd, env }), deps);
    configs.push({ name: flag ?? path, config });
  }
  return configs;
}

function readFiles({ eventFiles, layout }: BacktestAsk, { stdin, cwd, signal, onProgress }: BacktestDeps) {
  return readEventFiles({
    files: eventFiles,
    layout,
    stdin,
    cwd,
    signal,
    onProgress: (rows) => onProgress(`read ${rows} events`),
  });
}

async function readStore(
  config: Config,
  { slugs }: BacktestAsk,
  deps: BacktestDeps,
): Promise<Map<string, EventRecord>> {
  if (!config.source.holdsEvents) {
    throw new FlatlineError(
      "usage",
      `with source.type ${config.source.type} the events are not in flatline's own store: give them with --events FILE`,
    );
  }
  return withStore(config, deps, async ({ events }) => {
    const records = new Map<string, EventRecord>();
    for (const slug of await events.slugs()) {
      if (!isAsked(slugs, slug)) continue;
      const onProgress = (rows: number): void => deps.onProgress(`read ${rows} events of ${slug}`);
      records.set(slug, await readStoredRecord(events, slug, { signal: deps.signal, onProgress }));
    }
    return records;
  });
}

/** Each configuration with the organizations that it names; where it names none of those with events, and without one: all. */
function variantsOf(
  configs: readonly NamedConfig[],
  slugsWithEvents: readonly string[],
  slugs: readonly string[],
): BacktestVariant[] {
  const asked = slugsWithEvents.filter((slug) => isAsked(slugs, slug));
  const missing = slugs.filter((slug) => !slugsWithEvents.includes(slug));
  if (missing.length > 0)
    throw new FlatlineError("usage", `no event of ${missing.map((slug) => `"${slug}"`).join(", ")}`);
  if (configs.length === 0) return [{ name: "", organizations: asked.map(builtinOrganization) }];
  return configs.map(({ name, config }) => {
    const organizations = config.organizations.filter(({ slug }) => asked.includes(slug)).map(settingsOf);
    if (organizations.length > 0) return { name, organizations };
    const known = config.organizations.map(({ slug }) => slug).join(", ") || "none";
    throw new FlatlineError("usage", `${name} names no organization that there are events of (it names: ${known})`);
  });
}

function settingsOf(organization: OrganizationConfig): BacktestSettings {
  const { slug, thresholds, baseline, count, alert: policy, schedule, eventFlow } = organization;
  return {
    slug,
    thresholds,
    baseline,
    count,
    policy,
    schedule,
    maxSilenceMs: eventFlow.enabled ? eventFlow.maxSilenceMs : null,
  };
}

function builtinOrganization(slug: string): BacktestSettings {
  const { thresholds, baseline, count, alert, schedule: pattern, timezone, jitterMs } = builtinSettings;
  return {
    slug,
    thresholds,
    baseline,
    count,
    policy: alert,
    schedule: { pattern, timezone, jitterMs },
    maxSilenceMs: null,
  };
}

function isAsked(slugs: readonly string[], slug: string): boolean {
  return slugs.length === 0 || slugs.includes(slug);
}
