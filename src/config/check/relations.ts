import { formatDuration, parseDuration } from "../../base/durations.ts";
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
import type { YamlPath } from "../../base/yaml-text.ts";
import { builtinSettings, mostHealthchecks } from "../schema/organization.ts";
import {
  lookAt,
  namesOf,
  partsOf,
  thresholdsOf,
  type Finding,
  type Look,
  type Part,
  type WrittenConfig,
  type WrittenSettings,
} from "./written.ts";

interface Place {
  /** Returns `FILE:LINE` of the value at a path. */
  readonly lineOf: (path: YamlPath) => string;
  /** Whether other machines can try tokens. */
  readonly isExposed: boolean;
}
type Related = Look & Place;

/** Returns the problems between several keys of a configuration whose keys are each valid (CONTRACT 4). */
export async function checkRelations(config: WrittenConfig, place: Place): Promise<readonly Finding[]> {
  const look = { ...lookAt(config), ...place };
  const { organizations, receivers, discover, server, silences } = config;
  const { say } = look;
  checkDuplicates("organization", namesOf(organizations, "slug", "organizations"), look);
  checkDuplicates("receiver", namesOf(receivers, "name", "receivers"), look);
  checkDuplicates("discovery source", namesOf(discover, "name", "discover"), look);
  checkDuplicates("token", namesOf(server?.tokens, "name", "server", "tokens"), look);
  checkTokens(look);
  checkApiKeys(look);
  checkWhole(look);
  for (const one of look.settings) checkOrganization(one, look);
  checkHealthchecks(look);
  const checks = [...checkNames, ...look.settings.flatMap(pathsOf).map(({ value }) => healthcheckName(value))];
  for (const { path, value } of partsOf(silences, "silences")) checkMatch(path, value, checks, look);
  for (const { path, value } of partsOf(receivers, "receivers")) {
    const { match = {}, type, sendActs } = value;
    const kind = receiverKind(type);
    checkMatch([...path, "match"], match, checks, look);
    const why = "which knows alerts that fire or are over and no judgement: use another receiver for them";
    const isWithActs = sendActs === true && kind.isWithoutActs === true;
    say([...path, "sendActs"], isWithActs && `does not go with type ${type}, ${why}`, "key");
    for (const { key, message, part } of (await kind.check?.(value)) ?? []) say([...path, key ?? ""], message, part);
  }
  return look.findings;
}

/** Checks the sections that exist once. */
function checkWhole(look: Related): void {
  const { config, source, say } = look;
  const { url, path, poolSize, eventRetention } = config.storage ?? {};
  say(["storage", "path"], url !== undefined && path !== undefined && "does not go with url", "key");
  say(["storage", "poolSize"], url === undefined && poolSize !== undefined && "goes with url only", "key");
  const retentionMs = parseDuration(eventRetention ?? "0s") ?? 0;
  // Events must be kept as long as an evaluation looks back.
  const spansMs = look.settings.map(({ value }) => lookBackMs(thresholdsOf(look, value), baselineOf(value, look)));
  const longestMs = Math.max(...spansMs);
  say(
    ["storage", "eventRetention"],
    retentionMs > 0 &&
      retentionMs < longestMs &&
      `must be 0s, or at least the longest window and baseline together: ${formatDuration(longestMs)}`,
  );
  const needs = "needs stored events with the names of assets: source.type: embedded";
  say(["secondOpinion"], config.secondOpinion !== undefined && !source.holdsEvents && needs, "key");
}

/** Checks the settings of `defaults` or of an organization. */
function checkOrganization({ path, value }: Part<WrittenSettings>, look: Related): void {
  const { config, source, defaults, say } = look;
  const { baseline, count, alert, labels = {} } = value;
  const here = `with source.type ${source.type}`;
  say(
    [...path, "baseline"],
    baseline === "median" &&
      !source.isLocal &&
      `median needs a local source: ${here} the platform itself evaluates, and its API knows the mean only`,
  );
  // Other sources have no names of assets, and the mean counts deaths.
  if (count === "assets" && !source.holdsEvents)
    say(
      [...path, "count"],
      `assets needs the liveness events in flatline's own store: ${here} no asset has a name here; ` +
        "leave count out, or import the events with source.type: embedded",
    );
  else if (count === "assets" && baselineOf(value, look) === "mean")
    say([...path, "count"], "assets needs baseline: median beside it: the mean is the API's rule, which counts deaths");
  else if (count === undefined && defaults.count === "assets" && baseline === "mean")
    say(
      [...path, "baseline"],
      "mean counts deaths, and defaults.count says assets: leave this out, or set count: deaths beside it",
    );
  if ("query" in config.source && config.source.query !== undefined && (alert?.minBaselineCoverage ?? 0) > 0)
    say(
      [...path, "alert", "minBaselineCoverage"],
      "needs source.table: a query of your own does not return when an organization's first event was",
    );
  for (const settings of checkSettings) {
    const { key, needs, switchedBy = [] } = settings;
    const written = value[key];
    if (source[needs] || written === undefined || !isSwitchedOn(settings, written)) continue;
    const what = needs === "hasReports" ? "the platform's reports" : "the liveness events in flatline's own store";
    say([...path, key, ...[switchedBy].flat()], `needs ${what}: ${here} there are none, so this check cannot run`);
  }
  const kinds = (config.receivers ?? []).map(({ type }) => receiverKind(type));
  for (const name of Object.keys(labels))
    say(
      [...path, "labels", name],
      name === "" ? "a label needs a name" : (labelNameProblem(name, kinds) ?? false),
      "key",
    );
  const names = (config.receivers ?? []).map(({ name }) => name);
  const routed = namesOf(value.receivers, "name", ...path, "receivers");
  for (const { path: at, value: name } of routed)
    say(at, !names.includes(name) && `no receiver has the name ${JSON.stringify(name)}${suggest(name, names)}`);
  checkDuplicates("receiver", routed, look);
}

function checkDuplicates(noun: string, names: readonly Part<string>[], { say, lineOf }: Related): void {
  const first = new Map<string, Part<string>>();
  for (const name of names) {
    const earlier = first.get(name.value);
    if (earlier === undefined) first.set(name.value, name);
    else say(name.path, `the ${noun} ${JSON.stringify(name.value)} is already at ${lineOf(earlier.path)}`);
  }
}

const leastTokenBytes = 16;

/** Checks that no two tokens are the same, and that another machine cannot guess one. */
function checkTokens({ config: { server = {} }, say, isExposed }: Related): void {
  for (const { path, value } of partsOf(server.tokens, "server", "tokens")) {
    const isReserved = value.name === oneTokenName;
    say([...path, "name"], isReserved && "is the name of the token of server.token: choose another one");
    const isBound = value.slugs !== undefined && value.may.some((right) => right !== "ingest");
    const why = "goes with a token that may only ingest: the other rights are of all organizations";
    say([...path, "slugs"], isBound && why, "key");
  }
  const seen = new Set<string>();
  const tokens = [
    { path: ["server", "token"], value: server.token ?? "" },
    ...namesOf(server.tokens, "token", "server", "tokens"),
  ];
  for (const { path, value } of tokens) {
    if (value === "") continue;
    say(path, seen.has(value) && "is the same as an earlier one: they could not be distinguished");
    seen.add(value);
    say(
      path,
      isExposed &&
        Buffer.byteLength(value) < leastTokenBytes &&
        `must have at least ${leastTokenBytes} bytes where server.listen is not this machine's alone (127.0.0.1): ` +
          "openssl rand -hex 16 makes one",
    );
  }
}

function checkApiKeys({ config: { source, organizations, discover }, source: { isLocal }, say }: Related): void {
  if (isLocal || ("apiKey" in source && source.apiKey !== undefined)) return;
  for (const { path, value } of partsOf(organizations, "organizations"))
    if (typeof value === "string" || value.apiKey === undefined) say(path, "needs an apiKey, as source has none");
  for (const { path } of partsOf(discover, "discover"))
    say(path, "needs source.apiKey: what it lists has no key of its own");
}

function baselineOf({ baseline }: WrittenSettings, { defaults }: Look): BaselineKind {
  return baseline ?? defaults.baseline ?? builtinSettings.baseline;
}

/** Returns how far back an evaluation looks, ms. The days of a median begin whole days before its window. */
export function lookBackMs(
  { windowHours, baselineDays }: Pick<SpikeThresholds, "windowHours" | "baselineDays">,
  baseline: BaselineKind,
): number {
  const lagDays = baseline === "median" ? Math.ceil((windowHours * hourMs) / dayMs) - 1 : 0;
  return windowHours * hourMs + (baselineDays + lagDays) * dayMs;
}

/** Returns why a kind of receiver [any] cannot send a label of this name; null: all can. */
export function labelNameProblem(
  name: string,
  kinds: readonly ReceiverKind[] = receiverTypes.map(receiverKind),
): string | null {
  return kinds.map((kind) => kind.checkLabel?.(name) ?? null).find((problem) => problem !== null) ?? null;
}

function pathsOf({ path, value }: Part<WrittenSettings>): Part<string>[] {
  return namesOf(value.healthchecks, "path", ...path, "healthchecks");
}

/** Checks that the source has healthchecks, that no list has a path twice, and that no two paths have the same name. */
function checkHealthchecks(look: Related): void {
  const { source, defaults, say, lineOf } = look;
  const byName = new Map<CheckName, Part<string>>();
  for (const one of look.settings) {
    const { healthchecks = [] } = one.value;
    const at = [...one.path, "healthchecks"];
    if (healthchecks.length === 0) continue;
    if (source.isLocal) {
      const why = `with source.type ${source.type} flatline evaluates by itself, and there is none`;
      say(at, `needs the platform's API: ${why}`, "key");
      continue;
    }
    const paths = new Set([...(defaults.healthchecks ?? []), ...healthchecks].map(({ path }) => path));
    if (paths.size - healthchecks.filter(({ enabled }) => enabled === false).length > mostHealthchecks)
      say(at, `must have at most ${mostHealthchecks} items with those of defaults`, "key");
    checkDuplicates("healthcheck", pathsOf(one), look);
    for (const part of pathsOf(one)) {
      const name = healthcheckName(part.value);
      const first = byName.get(name) ?? part;
      byName.set(name, first);
      const other = `${JSON.stringify(first.value)} at ${lineOf(first.path)}`;
      say(
        part.path,
        first.value !== part.value && `gives its check the name ${JSON.stringify(name)}, as does ${other}`,
      );
    }
  }
}

function checkMatch(
  path: YamlPath,
  { check }: { readonly check?: string | undefined },
  checks: readonly CheckName[],
  { say }: Related,
): void {
  if (check === undefined || checks.some((name) => matchesText(check, name))) return;
  say([...path, "check"], `matches no check: ${[...new Set(checks)].join(", ")}${suggest(check, checks)}`);
}
