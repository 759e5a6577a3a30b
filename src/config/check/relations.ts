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
import type { YamlPath } from "../document/problems.ts";
import { builtinSettings, mostHealthchecks } from "../schema/organization.ts";
import {
  lookAt,
  partsOf,
  thresholdsOf,
  type Finding,
  type Look,
  type Part,
  type WrittenConfig,
  type WrittenSettings,
} from "./written.ts";

/** What a check of relations knows beside the configuration. */
interface Place {
  /** Returns `FILE:LINE` of the value at a path. */
  readonly lineOf: (path: YamlPath) => string;
  /** Whether others than this machine can try tokens. */
  readonly isExposed: boolean;
}
type Related = Look & Place;

/** Returns what is wrong between several keys of a configuration of which each key is right (CONTRACT 4). */
export async function checkRelations(config: WrittenConfig, place: Place): Promise<readonly Finding[]> {
  const look = { ...lookAt(config), ...place };
  const slugs = partsOf(config.organizations, "organizations").map(({ path, value }) =>
    typeof value === "string" ? { path, value } : { path: [...path, "slug"], value: value.slug },
  );
  checkDuplicates("organization", slugs, look);
  checkDuplicates("receiver", namesOf(partsOf(config.receivers, "receivers")), look);
  checkDuplicates("discovery source", namesOf(partsOf(config.discover, "discover")), look);
  checkTokens(look);
  checkApiKeys(look);
  checkStorage(look);
  checkEventRetention(look);
  checkSecondOpinion(look);
  for (const one of look.settings) {
    checkReceiverNames(one, look);
    checkLabels(one, look);
    checkBaseline(one, look);
    checkCounting(one, look);
    checkFirstEvents(one, look);
    checkChecks(one, look);
  }
  checkHealthchecks(look);
  const checks = [...checkNames, ...look.settings.flatMap(pathsOf).map(({ value }) => healthcheckName(value))];
  for (const { path, value } of partsOf(config.silences, "silences")) checkMatch(path, value, checks, look);
  await Promise.all(partsOf(config.receivers, "receivers").map((receiver) => checkReceiver(receiver, checks, look)));
  return look.findings;
}

function namesOf(parts: readonly Part<{ readonly name: string }>[]): Part<string>[] {
  return parts.map(({ path, value }) => ({ path: [...path, "name"], value: value.name }));
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

/** No two tokens are the same or have the same name, which the audit says; who is elsewhere cannot guess one. */
function checkTokens(look: Related): void {
  const { config, say, isExposed } = look;
  const { token: one, tokens } = config.server ?? {};
  const named = partsOf(tokens, "server", "tokens");
  checkDuplicates("token", namesOf(named), look);
  for (const { path, value } of named) {
    if (value.name === oneTokenName)
      say([...path, "name"], "is the name of the token of server.token: choose another one");
    if (value.slugs !== undefined && value.may.some((right) => right !== "ingest"))
      say(
        [...path, "slugs"],
        "goes with a token that may only ingest: the other rights are of all organizations",
        "key",
      );
  }
  const seen = new Set<string>();
  for (const { path, value } of [{ path: ["server"], value: { token: one } }, ...named]) {
    const { token = "" } = value;
    if (token === "") continue;
    const at = [...path, "token"];
    if (seen.has(token)) say(at, "is the same as an earlier one: they could not be distinguished");
    seen.add(token);
    if (isExposed && Buffer.byteLength(token) < leastTokenBytes)
      say(
        at,
        `must have at least ${leastTokenBytes} bytes where server.listen is not this machine's alone (127.0.0.1): openssl rand -hex 16 makes one`,
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

/** A file, or a PostgreSQL. */
function checkStorage({ config: { storage = {} }, say }: Related): void {
  const { url, path, poolSize } = storage;
  if (url !== undefined && path !== undefined) say(["storage", "path"], "does not go with url", "key");
  if (url === undefined && poolSize !== undefined) say(["storage", "poolSize"], "goes with url only", "key");
}

/** `storage.eventRetention` that forgets what an evaluation looks back on. */
function checkEventRetention(look: Related): void {
  const retentionMs = parseDuration(look.config.storage?.eventRetention ?? "0s") ?? 0;
  const spansMs = look.settings.map(({ value }) => lookBackMs(thresholdsOf(look, value), baselineOf(value, look)));
  const longestMs = Math.max(...spansMs);
  if (retentionMs === 0 || retentionMs >= longestMs) return;
  const message = `must be 0s, or at least the longest window and baseline together: ${formatDuration(longestMs)}`;
  look.say(["storage", "eventRetention"], message);
}

function baselineOf({ baseline }: WrittenSettings, { defaults }: Related): BaselineKind {
  return baseline ?? defaults.baseline ?? builtinSettings.baseline;
}

/** Returns how far before now an evaluation looks. A median's days begin a whole number of days before the window does. */
export function lookBackMs(
  { windowHours, baselineDays }: Pick<SpikeThresholds, "windowHours" | "baselineDays">,
  baseline: BaselineKind,
): number {
  const lagDays = baseline === "median" ? Math.ceil((windowHours * hourMs) / dayMs) - 1 : 0;
  return windowHours * hourMs + (baselineDays + lagDays) * dayMs;
}

/** Names of stored events are what a second opinion is about. */
function checkSecondOpinion({ config, source, say }: Related): void {
  if (config.secondOpinion !== undefined && !source.holdsEvents)
    say(["secondOpinion"], "needs stored events with the names of assets: source.type: embedded", "key");
}

function checkReceiverNames({ path, value }: Part<WrittenSettings>, look: Related): void {
  const names = (look.config.receivers ?? []).map(({ name }) => name);
  const routed = partsOf(value.receivers, ...path, "receivers").map((one) =>
    typeof one.value === "string"
      ? { path: one.path, value: one.value }
      : { path: [...one.path, "name"], value: one.value.name },
  );
  for (const name of routed)
    if (!names.includes(name.value))
      look.say(name.path, `no receiver has the name ${JSON.stringify(name.value)}${suggest(name.value, names)}`);
  checkDuplicates("receiver", routed, look);
}

/** Labels that no receiver of the configuration could be sent. */
function checkLabels({ path, value }: Part<WrittenSettings>, { config, say }: Related): void {
  const kinds = (config.receivers ?? []).map(({ type }) => receiverKind(type));
  for (const name of Object.keys(value.labels ?? {})) {
    const message = name === "" ? "a label needs a name" : labelNameProblem(name, kinds);
    if (message !== null) say([...path, "labels", name], message, "key");
  }
}

/** Returns why one of these kinds of receivers [any] cannot send a label of this name; null if all can. */
export function labelNameProblem(
  name: string,
  kinds: readonly ReceiverKind[] = receiverTypes.map(receiverKind),
): string | null {
  return kinds.map((kind) => kind.checkLabel?.(name) ?? null).find((problem) => problem !== null) ?? null;
}

/** `baseline: median` where the platform evaluates: its API has one rule, and no word for another. */
function checkBaseline({ path, value }: Part<WrittenSettings>, { source, say }: Related): void {
  if (value.baseline === "median" && !source.isLocal)
    say(
      [...path, "baseline"],
      `median needs a local source: with source.type ${source.type} the platform itself evaluates, and its API knows the mean only`,
    );
}

/** `count: assets` where assets have no names, or are counted against a mean. */
function checkCounting({ path, value }: Part<WrittenSettings>, look: Related): void {
  const { source, defaults, say } = look;
  if ((value.count ?? defaults.count) !== "assets") return;
  // Settings that only `defaults` has are reported there.
  const isOwn = value.count !== undefined;
  if (isOwn && !source.holdsEvents)
    return say(
      [...path, "count"],
      `assets needs the liveness events in flatline's own store: with source.type ${source.type} no asset has a name here; leave count out, or import the events with source.type: embedded`,
    );
  if (baselineOf(value, look) !== "mean") return;
  if (isOwn)
    say([...path, "count"], "assets needs baseline: median beside it: the mean is the API's rule, which counts deaths");
  else if (value.baseline !== undefined)
    say(
      [...path, "baseline"],
      "mean counts deaths, and defaults.count says assets: leave this out, or set count: deaths beside it",
    );
}

function checkFirstEvents({ path, value }: Part<WrittenSettings>, { config: { source }, say }: Related): void {
  if (!("query" in source) || source.query === undefined || (value.alert?.minBaselineCoverage ?? 0) === 0) return;
  say(
    [...path, "alert", "minBaselineCoverage"],
    "needs source.table: a query of your own does not return when an organization's first event was",
  );
}

/** Checks need what not every source has. */
function checkChecks({ path, value }: Part<WrittenSettings>, { source, say }: Related): void {
  for (const settings of checkSettings) {
    const { key, needs, switchedBy } = settings;
    const written = value[key];
    if (source[needs] || written === undefined || !isSwitchedOn(settings, written)) continue;
    const what = needs === "hasReports" ? "the platform's reports" : "the liveness events in flatline's own store";
    say(
      [...path, key, ...(switchedBy === undefined ? [] : [switchedBy])],
      `needs ${what}: with source.type ${source.type} there are none, so this check cannot run`,
    );
  }
}

/** The paths of the healthchecks that `defaults` or an organization lists. */
function pathsOf({ path, value }: Part<WrittenSettings>): Part<string>[] {
  return partsOf(value.healthchecks, ...path, "healthchecks").map((one) => ({
    path: [...one.path, "path"],
    value: one.value.path,
  }));
}

/** The source has healthchecks, each path is once in a list, and no two are of one name: an organization has those of `defaults` too. */
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
      if (first.value === part.value) continue;
      const other = `${JSON.stringify(first.value)} at ${lineOf(first.path)}`;
      say(part.path, `gives its check the name ${JSON.stringify(name)}, as does ${other}`);
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

async function checkReceiver(
  { path, value }: Part<NonNullable<WrittenConfig["receivers"]>[number]>,
  checks: readonly CheckName[],
  look: Related,
): Promise<void> {
  const { match, type } = value;
  const kind = receiverKind(type);
  if (match !== undefined) checkMatch([...path, "match"], match, checks, look);
  if (value.sendActs === true && kind.isWithoutActs === true) {
    const why = "which knows alerts that fire or are over and no judgement: use another receiver for them";
    look.say([...path, "sendActs"], `does not go with type ${type}, ${why}`, "key");
  }
  for (const { key, message, part } of (await kind.check?.(value)) ?? []) look.say([...path, key ?? ""], message, part);
}
