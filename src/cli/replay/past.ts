import { parse } from "yaml";

import type { EventRecord } from "../../backtest/event-record.ts";
import type { Watched } from "../../backtest/replay.ts";
import type { RunDeps } from "../../backtest/run.ts";
import { FlatlineError } from "../../base/errors.ts";
import { scheduleOf } from "../../checks/kind.ts";
import { resolveOrganization, type Config, type OrganizationConfig } from "../../config/config.ts";
import { describeOrganization } from "../../config/render.ts";
import { organizationObject } from "../../config/schema/organization.ts";
import { rootShape } from "../../config/schema/schema.ts";
import { readWith } from "../../contract/issues.ts";
import type { PartsDeps } from "../../daemon/parts.ts";
import { spikeRuleOf } from "../../spike/evaluate.ts";
import { otherStatuses } from "../../store/events/rules.ts";
import { loadCommandConfig } from "../command-config.ts";
import { or, value, type FlagsOf } from "../command.ts";
import type { CliContext } from "../context.ts";
import { eventFilesOf, eventFlags, layoutOf } from "../event-flags.ts";
import { joinDiscovered, withStore } from "../read-store.ts";
import { collect, parseDurationMs, parseInstant } from "../values.ts";
import { readEventFiles, readStoredRecord } from "./event-records.ts";
import { readTruth, truthOf, type TruthKind } from "./truth.ts";

/** The flags that `backtest` and `tune` share: what is replayed, and the truth. */
export const replayFlags = {
  ...eventFlags,
  config: value("<file>", "the configuration file [the built-in settings with --events]"),
  events: or(
    value("<file>", "take events from a file, - is standard input; no store is needed; repeatable", collect),
    [],
  ),
  setting: or(
    value(
      "<path=value>",
      "a setting of every organization in place of the configured one, such as thresholds.failMultiplier=6; repeatable",
      collect,
    ),
    [],
  ),
  /** The kind, the file after `labels`, and slugs that follow. */
  truth: value(
    "<kind...>",
    "labels FILE (JSON: by slug, incidents as a list of {from, to}); " +
      "revived: days on which many of the dead were found alive; " +
      "judged: what people said of incidents [revived for tune]",
    collect,
  ),
  from: value("<time>", "first evaluation (ISO 8601 or epoch ms) [when the baseline is full]", parseInstant),
  to: value("<time>", "last evaluation [the last event]", parseInstant),
  step: value("<duration>", "evaluate every so often, such as 1h", parseDurationMs),
};
/** The argument that they share. */
export const replayWords = [["[slug...]", "organizations to replay [all that have events]"]] as const;

export type ReadPast = Awaited<ReturnType<typeof readPast>>;

/** Reads configuration, events and truth. @throws usage, invalid_config, invalid_data, no_input, store_* */
export async function readPast(
  given: readonly string[],
  flags: FlagsOf<typeof replayFlags>,
  usualTruth: TruthKind,
  context: CliContext & Pick<RunDeps, "onProgress">,
) {
  const { rest, ...truth } = truthOf(flags.truth, usualTruth);
  const slugs = [...given, ...rest];
  const isAsked = (slug: string): boolean => slugs.length === 0 || slugs.includes(slug);
  const settings = flags.setting.map(readSetting);
  // --events without --config ignores a configuration that happens to be here.
  const config =
    flags.config === undefined && flags.events.length > 0
      ? null
      : (await joinDiscovered(await loadCommandConfig(flags.config, context), context)).config;
  const { signal, clock, onProgress } = context;
  const byStatus = new Map<string, number>();
  const records =
    flags.events.length === 0 && config !== null
      ? await readStore(config, isAsked, context)
      : await readEventFiles({
          files: eventFilesOf(flags.events, context),
          layout: layoutOf(flags, clock.nowMs()),
          isAsked,
          byStatus,
          signal,
          onProgress: (rows) => onProgress(`read ${rows} events`),
        });
  const missing = slugs.filter((slug) => !records.has(slug));
  if (missing.length > 0)
    throw new FlatlineError("usage", `no event of ${missing.map((slug) => `"${slug}"`).join(", ")}`);
  const asked = [...records.values()];
  const configured = config?.organizations ?? asked.map(({ slug }) => resolved({ slug }));
  const found = configured.filter(({ slug }) => records.has(slug));
  if (config !== null && found.length === 0)
    throw new FlatlineError(
      "usage",
      `${flags.config ?? config.file} names no organization that there are events of ` +
        `(it names: ${configured.map(({ slug }) => slug).join(", ") || "none"})`,
    );
  const organizations = found.map((one) => watchedOf(settled(one, settings)));
  const { incident, fleet } = config?.alerting ?? rootShape.alerting.unwrap().parse({});
  return {
    organizations,
    records,
    ...(await readTruth(truth, asked, config, context)),
    truth: truth.kind,
    read: {
      events: asked.reduce((sum, { seenAtMs }) => sum + seenAtMs.length, 0),
      organizations: asked.length,
      deaths: asked.reduce((sum, { deathsBefore }) => sum + (deathsBefore.at(-1) ?? 0), 0),
      firstAtMs: Math.min(...asked.flatMap(({ seenAtMs }) => seenAtMs[0] ?? [])),
      lastAtMs: Math.max(...asked.flatMap(({ seenAtMs }) => seenAtMs.at(-1) ?? [])),
    },
    /** Events of the files with a status that has no effect, by status. */
    otherStatuses: otherStatuses(byStatus),
    incidents: { withinMs: incident.withinMs, minOrganizations: fleet?.minOrganizations ?? null },
    fromMs: flags.from ?? null,
    toMs: flags.to ?? null,
    stepMs: flags.step ?? null,
    /** Paths that `--setting` names. */
    fixed: settings.map(({ path }) => path.join(".")),
    /** Whether only some organizations were asked for. */
    isOfSome: slugs.length > 0,
  };
}

async function readStore(
  config: Config,
  isAsked: (slug: string) => boolean,
  deps: PartsDeps & Pick<RunDeps, "signal" | "onProgress">,
): Promise<Map<string, EventRecord>> {
  if (!config.source.holdsEvents)
    throw new FlatlineError(
      "usage",
      `with source.type ${config.source.type} the events are not in flatline's own store: give them with --events FILE`,
    );
  return withStore(config, deps, async ({ events }) => {
    const records = new Map<string, EventRecord>();
    for (const slug of await events.slugs()) {
      if (!isAsked(slug)) continue;
      const onProgress = (rows: number): void => deps.onProgress(`read ${rows} events of ${slug}`);
      records.set(slug, await readStoredRecord(events, slug, { signal: deps.signal, onProgress }));
    }
    return records;
  });
}

/** Returns an organization with the built-in settings, without receivers. */
function resolved(organization: Parameters<typeof resolveOrganization>[0]): OrganizationConfig {
  return resolveOrganization(organization, { discoveredBy: null, defaults: {}, hidden: [], receivers: [] });
}

/** Parses `thresholds.failMultiplier=6`; the value is YAML. @throws usage */
function readSetting(text: string) {
  const [, path = "", value = ""] = /^([A-Za-z.]+)=(.*)$/s.exec(text) ?? [];
  if (path === "")
    throw new FlatlineError("usage", `--setting is PATH=VALUE, such as thresholds.failMultiplier=6, not '${text}'`);
  try {
    return { path: path.split("."), value: parse(value) as unknown };
  } catch (error) {
    throw new FlatlineError("usage", `--setting ${path}: the value is no YAML`, { cause: error });
  }
}

/** Returns an organization with other settings. @throws usage for a setting that does not exist or is wrong */
function settled(
  organization: OrganizationConfig,
  settings: readonly ReturnType<typeof readSetting>[],
): OrganizationConfig {
  if (settings.length === 0) return organization;
  // The form of the file, without keys and receivers.
  const written: Record<string, unknown> = {
    ...describeOrganization({ ...organization, hidden: [], apiKey: null }),
    receivers: [],
  };
  for (const { path, value } of settings) {
    let object = written;
    for (const step of path.slice(0, -1)) object = (object[step] ??= {}) as Record<string, unknown>;
    object[path.at(-1) ?? ""] = value;
  }
  const read = readWith(organizationObject, written);
  if (read.kind === "data") return resolved(read.data);
  const [problem] = read.problems;
  throw new FlatlineError("usage", `--setting ${problem?.path.join(".")}: ${problem?.message}`);
}

function watchedOf(organization: OrganizationConfig): Watched {
  const { slug, thresholds, alert: policy, eventFlow } = organization;
  const maxSilenceMs = eventFlow.enabled ? eventFlow.maxSilenceMs : null;
  return { ...spikeRuleOf(organization), slug, thresholds, policy, schedule: scheduleOf(organization), maxSilenceMs };
}
