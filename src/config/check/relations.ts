import { formatDuration, parseDuration } from "../../base/durations.ts";
import { layered } from "../../base/layers.ts";
import { suggest } from "../../base/suggestions.ts";
import { matchesText } from "../../base/text-pattern.ts";
import { dayMs, hourMs } from "../../base/time.ts";
import { checkSettings, isSwitchedOn } from "../../checks/checks.ts";
import { healthcheckName } from "../../contract/platform-healthcheck.ts";
import { checkNames, type CheckName } from "../../contract/report.ts";
import { oneTokenName } from "../../contract/rights.ts";
import type { ReceiverKind } from "../../receivers/kind.ts";
import { receiverKind, receiverTypes } from "../../receivers/receivers.ts";
import type { BaselineKind } from "../../spike/median.ts";
import type { SpikeThresholds } from "../../spike/thresholds.ts";
import { builtinSettings, mostHealthchecks } from "../schema/organization.ts";
import {
  keysOf,
  kindOfSource,
  partsOf,
  settingsOf,
  type Finding,
  type Part,
  type WrittenConfig,
  type WrittenReceiver,
  type WrittenSettings,
  type WrittenSilence,
} from "./written.ts";

/** What a check of relations knows beside the configuration. */
interface Place {
  /** Returns `FILE:LINE` of the value at a path. */
  readonly lineOf: (path: Part<unknown>["path"]) => string;
  /** Whether others than this machine can try tokens. */
  readonly isExposed: boolean;
}

/** Returns what is wrong between several keys of a configuration of which each key is right (CONTRACT 4). */
export async function checkRelations(config: WrittenConfig, place: Place): Promise<Finding[]> {
  const receivers = partsOf(config.receivers, ["receivers"]);
  const checks = [
    ...checkNames,
    ...settingsOf(config)
      .flatMap(pathsOf)
      .map(({ value }) => healthcheckName(value)),
  ];
  return [
    ...checkDuplicates("organization", slugsOf(config), place),
    ...checkDuplicates("receiver", keysOf(receivers, "name"), place),
    ...checkDuplicates("discovery source", keysOf(partsOf(config.discover, ["discover"]), "name"), place),
    ...checkTokens(config, place),
    ...checkReceiverNames(config, place),
    ...checkApiKeys(config),
    ...checkLabels(config),
    ...checkEventRetention(config),
    ...checkBaselines(config),
    ...checkCounting(config),
    ...checkFirstEvents(config),
    ...checkChecks(config),
    ...checkHealthchecks(config, place),
    ...checkStorage(config),
    ...checkSecondOpinion(config),
    ...partsOf(config.silences, ["silences"]).flatMap((silence) => checkMatch(silence, checks)),
    ...(await Promise.all(receivers.map((receiver) => checkReceiver(receiver, checks)))).flat(),
  ];
}

function slugsOf(config: WrittenConfig): Part<string>[] {
  return partsOf(config.organizations, ["organizations"]).map(({ path, value }) =>
    typeof value === "string" ? { path, value } : { path: [...path, "slug"], value: value.slug },
  );
}

function checkDuplicates(noun: string, names: readonly Part<string>[], { lineOf }: Place): Finding[] {
  const first = new Map<string, Part<string>>();
  return names.flatMap((name) => {
    const earlier = first.get(name.value);
    if (earlier === undefined) {
      first.set(name.value, name);
      return [];
    }
    return [
      {
        path: name.path,
        message: `the ${noun} ${JSON.stringify(name.value)} is already at ${lineOf(earlier.path)}`,
      },
    ];
  });
}

const leastTokenBytes = 16;

/** No two tokens are the same or have the same name, which the audit says; who is elsewhere cannot guess one. */
function checkTokens({ server }: WrittenConfig, place: Place): Finding[] {
  const tokens = partsOf(server?.tokens, ["server", "tokens"]);
  const names = keysOf(tokens, "name");
  const taken = names.filter(({ value }) => value === oneTokenName);
  const bounded = tokens.filter(
    ({ value }) => value.slugs !== undefined && value.may.some((right) => right !== "ingest"),
  );
  const one: Part<{ readonly token?: string | undefined }> = { path: ["server"], value: server ?? {} };
  const values = keysOf([one, ...tokens], "token").filter(({ value }) => value !== "");
  const repeated = values.filter(({ value }, index) => values.findIndex((one) => one.value === value) < index);
  const short = values.filter(({ value }) => place.isExposed && Buffer.byteLength(value) < leastTokenBytes);
  return [
    ...checkDuplicates("token", names, place),
    ...at(taken, "is the name of the token of server.token: choose another one"),
    ...bounded.map(({ path }): Finding => ({
      path: [...path, "slugs"],
      message: "goes with a token that may only ingest: the other rights are of all organizations",
      part: "key",
    })),
    ...at(repeated, "is the same as an earlier one: they could not be distinguished"),
    ...at(
      short,
      `must have at least ${leastTokenBytes} bytes where server.listen is not this machine's alone (127.0.0.1): openssl rand -hex 16 makes one`,
    ),
  ];
}

function at(parts: readonly Part<unknown>[], message: string): Finding[] {
  return parts.map(({ path }) => ({ path, message }));
}

function checkReceiverNames(config: WrittenConfig, place: Place): Finding[] {
  const names = (config.receivers ?? []).map(({ name }) => name);
  return settingsOf(config).flatMap(({ path, value }) => {
    const list = partsOf(value.receivers, [...path, "receivers"]).map((routed) =>
      typeof routed.value === "string"
        ? { path: routed.path, value: routed.value }
        : { path: [...routed.path, "name"], value: routed.value.name },
    );
    const strangers = list.filter((name) => !names.includes(name.value));
    return [
      ...strangers.map((name) => ({
        path: name.path,
        message: `no receiver has the name ${JSON.stringify(name.value)}${suggest(name.value, names)}`,
      })),
      ...checkDuplicates("receiver", list, place),
    ];
  });
}

function checkApiKeys(config: WrittenConfig): Finding[] {
  const { source } = config;
  if (kindOfSource(config).isLocal || ("apiKey" in source && source.apiKey !== undefined)) return [];
  const organizations = partsOf(config.organizations, ["organizations"]).filter(
    ({ value }) => typeof value === "string" || value.apiKey === undefined,
  );
  return [
    ...at(organizations, "needs an apiKey, as source has none"),
    ...at(partsOf(config.discover, ["discover"]), "needs source.apiKey: what it lists has no key of its own"),
  ];
}

/** Names of stored events are what a second opinion is about. */
function checkSecondOpinion(config: WrittenConfig): Finding[] {
  if (config.secondOpinion === undefined || kindOfSource(config).holdsEvents) return [];
  const message = "needs stored events with the names of assets: source.type: embedded";
  return [{ path: ["secondOpinion"], message, part: "key" }];
}

/** A file, or a PostgreSQL. */
function checkStorage({ storage = {} }: WrittenConfig): Finding[] {
  if (storage.url !== undefined && storage.path !== undefined)
    return [{ path: ["storage", "path"], message: "does not go with url", part: "key" }];
  if (storage.url === undefined && storage.poolSize !== undefined)
    return [{ path: ["storage", "poolSize"], message: "goes with url only", part: "key" }];
  return [];
}

/** `storage.eventRetention` that forgets what an evaluation looks back on. */
function checkEventRetention(config: WrittenConfig): Finding[] {
  const retentionMs = parseDuration(config.storage?.eventRetention ?? "0s") ?? 0;
  const { defaults = {} } = config;
  const spansMs = settingsOf(config).map(({ value }) =>
    lookBackMs(
      layered(builtinSettings.thresholds, defaults.thresholds, value.thresholds),
      value.baseline ?? defaults.baseline ?? builtinSettings.baseline,
    ),
  );
  const longestMs = Math.max(...spansMs);
  if (retentionMs === 0 || retentionMs >= longestMs) return [];
  const message = `must be 0s, or at least the longest window and baseline together: ${formatDuration(longestMs)}`;
  return [{ path: ["storage", "eventRetention"], message }];
}

/** Returns how far before now an evaluation looks. A median's days begin a whole number of days before the window does. */
export function lookBackMs(
  { windowHours, baselineDays }: Pick<SpikeThresholds, "windowHours" | "baselineDays">,
  baseline: BaselineKind,
): number {
  const lagDays = baseline === "median" ? Math.ceil((windowHours * hourMs) / dayMs) - 1 : 0;
  return windowHours * hourMs + (baselineDays + lagDays) * dayMs;
}

/** `baseline: median` where the platform evaluates: its API has one rule, and no word for another. */
function checkBaselines(config: WrittenConfig): Finding[] {
  const { isLocal, type } = kindOfSource(config);
  const medians = keysOf(settingsOf(config), "baseline").filter(({ value }) => value === "median");
  return at(
    isLocal ? [] : medians,
    `median needs a local source: with source.type ${type} the platform itself evaluates, and its API knows the mean only`,
  );
}

/** `count: assets` where assets have no names, or are counted against a mean. */
function checkCounting(config: WrittenConfig): Finding[] {
  const { holdsEvents, type } = kindOfSource(config);
  const { defaults = {} } = config;
  return settingsOf(config).flatMap(({ path, value }): Finding[] => {
    if ((value.count ?? defaults.count) !== "assets") return [];
    // Settings that only `defaults` has are reported there.
    const isOwn = value.count !== undefined;
    if (isOwn && !holdsEvents) {
      const message = `assets needs the liveness events in flatline's own store: with source.type ${type} no asset has a name here; leave count out, or import the events with source.type: embedded`;
      return [{ path: [...path, "count"], message }];
    }
    const baseline = value.baseline ?? defaults.baseline ?? builtinSettings.baseline;
    if (baseline !== "mean" || (!isOwn && value.baseline === undefined)) return [];
    const message = isOwn
      ? "assets needs baseline: median beside it: the mean is the API's rule, which counts deaths"
      : "mean counts deaths, and defaults.count says assets: leave this out, or set count: deaths beside it";
    return [{ path: [...path, isOwn ? "count" : "baseline"], message }];
  });
}

function checkFirstEvents(config: WrittenConfig): Finding[] {
  if (!("query" in config.source) || config.source.query === undefined) return [];
  const alerts = settingsOf(config).map(({ path, value }) => ({ path: [...path, "alert"], value: value.alert ?? {} }));
  return at(
    keysOf(alerts, "minBaselineCoverage").filter(({ value }) => value > 0),
    "needs source.table: a query of your own does not return when an organization's first event was",
  );
}

/** Checks need what not every source has. */
function checkChecks(config: WrittenConfig): Finding[] {
  const source = kindOfSource(config);
  const missing = {
    hasReports: `needs the platform's reports: with source.type ${source.type} there are none, so this check cannot run`,
    holdsEvents: `needs the liveness events in flatline's own store: with source.type ${source.type} there are none, so this check cannot run`,
  };
  const lacking = checkSettings.filter(({ needs }) => !source[needs]);
  return settingsOf(config).flatMap(({ path, value }) =>
    lacking.flatMap((settings) => {
      const written = value[settings.key];
      if (written === undefined || !isSwitchedOn(settings, written)) return [];
      return [
        {
          path: [...path, settings.key, ...(settings.switchedBy === undefined ? [] : [settings.switchedBy])],
          message: missing[settings.needs],
        },
      ];
    }),
  );
}

/** The paths of the healthchecks that `defaults` or an organization lists. */
function pathsOf({ path, value }: Part<WrittenSettings>): Part<string>[] {
  return keysOf(partsOf(value.healthchecks, [...path, "healthchecks"]), "path");
}

/**
 * Checks that the source has healthchecks, each path once in a list, and no two of one name: an organization has those
 * of `defaults` too.
 */
function checkHealthchecks(config: WrittenConfig, place: Place): Finding[] {
  const lists = settingsOf(config).filter(({ value }) => (value.healthchecks ?? []).length > 0);
  const atLists = (parts: typeof lists, message: string): Finding[] =>
    parts.map(({ path }) => ({ path: [...path, "healthchecks"], message, part: "key" }));
  const { isLocal, type } = kindOfSource(config);
  if (isLocal) {
    return atLists(
      lists,
      `needs the platform's API: with source.type ${type} flatline evaluates by itself, and there is none`,
    );
  }
  const byName = new Map<CheckName, Part<string>>();
  const alike = lists.flatMap(pathsOf).flatMap((part): Finding[] => {
    const name = healthcheckName(part.value);
    const first = byName.get(name) ?? part;
    byName.set(name, first);
    if (first.value === part.value) return [];
    const other = `${JSON.stringify(first.value)} at ${place.lineOf(first.path)}`;
    return [{ path: part.path, message: `gives its check the name ${JSON.stringify(name)}, as does ${other}` }];
  });
  const shared = config.defaults?.healthchecks ?? [];
  const tooMany = lists.filter(({ value: { healthchecks = [] } }) => {
    const paths = new Set([...shared, ...healthchecks].map(({ path }) => path));
    return paths.size - healthchecks.filter(({ enabled }) => enabled === false).length > mostHealthchecks;
  });
  return [
    ...atLists(tooMany, `must have at most ${mostHealthchecks} items with those of defaults`),
    ...lists.flatMap((list) => checkDuplicates("healthcheck", pathsOf(list), place)),
    ...alike,
  ];
}

function checkMatch({ path, value }: Part<Pick<WrittenSilence, "check">>, checks: readonly CheckName[]): Finding[] {
  const { check } = value;
  if (check === undefined || checks.some((name) => matchesText(check, name))) return [];
  const message = `matches no check: ${[...new Set(checks)].join(", ")}${suggest(check, checks)}`;
  return [{ path: [...path, "check"], message }];
}

/** Labels that no receiver of the configuration could be sent. */
function checkLabels(config: WrittenConfig): Finding[] {
  const kinds = (config.receivers ?? []).map(({ type }) => receiverKind(type));
  return settingsOf(config).flatMap(({ path, value }) =>
    Object.keys(value.labels ?? {}).flatMap((name): Finding[] => {
      const message = name === "" ? "a label needs a name" : labelNameProblem(name, kinds);
      return message === null ? [] : [{ path: [...path, "labels", name], message, part: "key" }];
    }),
  );
}

/** Returns why one of these kinds of receivers [any] cannot send a label of this name; null if all can. */
export function labelNameProblem(
  name: string,
  kinds: readonly ReceiverKind[] = receiverTypes.map(receiverKind),
): string | null {
  return kinds.map((kind) => kind.checkLabel?.(name) ?? null).find((problem) => problem !== null) ?? null;
}

async function checkReceiver(
  { path, value: receiver }: Part<WrittenReceiver>,
  checks: readonly CheckName[],
): Promise<Finding[]> {
  const { match, type } = receiver;
  const kind = receiverKind(type);
  const findings = match === undefined ? [] : checkMatch({ path: [...path, "match"], value: match }, checks);
  if (receiver.sendActs === true && kind.isWithoutActs === true) {
    const message = `does not go with type ${type}, which knows alerts that fire or are over and no judgement: use another receiver for them`;
    findings.push({ path: [...path, "sendActs"], message, part: "key" });
  }
  const problems = (await kind.check?.(receiver)) ?? [];
  return [...findings, ...problems.map(({ key, ...problem }) => ({ path: [...path, key ?? ""], ...problem }))];
}
