import { oneTokenName } from "../../contract/rights.ts";
import type { ReceiverKind } from "../../receivers/kind.ts";
import { receiverKind, receiverTypes } from "../../receivers/receivers.ts";
import { checkSettings } from "../../checks/checks.ts";
import { checkNames, type CheckName } from "../../contract/report.ts";
import { healthcheckName } from "../../contract/platform-healthcheck.ts";
import { suggest } from "../../base/suggestions.ts";
import { matchesText } from "../../base/text-pattern.ts";
import { known, refused } from "../document/accepted.ts";
import type { ConfigDocument } from "../document/document.ts";
import type { Problem } from "../document/problems.ts";
import { parseInstant } from "../../base/schema/values.ts";
import { mostHealthchecks } from "../schema/organization.ts";
import { checkBaselines, checkCounting, checkEventRetention } from "./baseline.ts";
import { checkTableSource } from "./table-source.ts";
import {
  kindOf,
  partsOf,
  settingsOf,
  writtenKind,
  tokensOf,
  type Finding,
  type Part,
  type WrittenConfig,
  type WrittenDiscover,
  type WrittenReceiver,
  type WrittenSettings,
  type WrittenSilence,
} from "./written.ts";

/**
 * Checks what spans several keys of the configuration: duplicates, names of receivers, what goes together and what does not.
 * Looks at what the schema has accepted, so that all problems are reported in one go and none twice.
 */
export async function checkRelations(config: WrittenConfig, document: ConfigDocument): Promise<Problem[]> {
  const receivers = partsOf(config.receivers, ["receivers"]);
  const discover = partsOf(config.discover, ["discover"]);
  const checks = [
    ...checkNames,
    ...settingsOf(config)
      .flatMap(pathsOf)
      .map(({ value }) => healthcheckName(value)),
  ];
  const findings = [
    ...checkPresence(config),
    ...checkDuplicates("organization", slugsOf(config), document),
    ...checkDuplicates("receiver", namesOf(receivers), document),
    ...checkDuplicates("discovery source", namesOf(discover), document),
    ...discover.flatMap(checkDiscover),
    ...checkTokens(config, document),
    ...checkReceiverNames(config, document),
    ...checkApiKeys(config),
    ...checkLabels(config, receivers),
    ...checkEventRetention(config),
    ...checkBaselines(config),
    ...checkCounting(config),
    ...checkTableSource(config),
    ...checkChecks(config),
    ...checkHealthchecks(config, document),
    ...checkStorage(config),
    ...checkSecondOpinion(config),
    ...partsOf(config.silences, ["silences"]).flatMap((silence) => checkSilence(silence, checks)),
    ...(await Promise.all(receivers.map((receiver) => checkReceiver(receiver, checks)))).flat(),
  ];
  return findings.map(({ path, message, part }) => document.problemAt(path, message, part));
}

function checkPresence({ organizations, discover }: WrittenConfig): Finding[] {
  if (organizations !== undefined || discover !== undefined) return [];
  const message = "is required: a list of slugs or objects, or discover for sources of one";
  return [{ path: ["organizations"], message }];
}

function slugsOf(config: WrittenConfig): Part<string>[] {
  return partsOf(config.organizations, ["organizations"]).flatMap((organization) => {
    const { path, value } = organization;
    return typeof value === "string" ? [{ path, value }] : textOf([...path, "slug"], value.slug);
  });
}

function namesOf(parts: readonly Part<WrittenReceiver | WrittenDiscover>[]): Part<string>[] {
  return parts.flatMap(({ path, value }) => textOf([...path, "name"], value.name));
}

/** The audit log names the token: no two tokens have the same name. Only events are bounded by organizations. */
function checkTokens(config: WrittenConfig, document: ConfigDocument): Finding[] {
  const names = tokensOf(config).flatMap(({ path, value }) => textOf([...path, "name"], value.name));
  const taken = names.filter(({ value }) => value === oneTokenName);
  const message = `is the name of the token of server.token: choose another one`;
  const bounded = tokensOf(config).filter(
    ({ value }) => value.slugs !== undefined && known(value.may)?.some((right) => known(right) !== "ingest"),
  );
  return [
    ...checkDuplicates("token", names, document),
    ...taken.map(({ path }) => ({ path, message })),
    ...bounded.map(({ path }) => ({
      path: [...path, "slugs"],
      message: "goes with a token that may only ingest: the other rights are of all organizations",
      part: "key" as const,
    })),
  ];
}

function textOf(path: Part<string>["path"], text: string | typeof refused | undefined): Part<string>[] {
  const value = known(text);
  return value === undefined ? [] : [{ path, value }];
}

function checkDuplicates(noun: string, names: readonly Part<string>[], document: ConfigDocument): Finding[] {
  const first = new Map<string, Part<string>>();
  return names.flatMap((name) => {
    const earlier = first.get(name.value);
    if (earlier === undefined) {
      first.set(name.value, name);
      return [];
    }
    const message = `the ${noun} ${JSON.stringify(name.value)} is already at ${document.lineOf(earlier.path)}`;
    return [{ path: name.path, message }];
  });
}

function checkReceiverNames(config: WrittenConfig, document: ConfigDocument): Finding[] {
  const receivers = known(config.receivers);
  const names = namesOf(partsOf(receivers, ["receivers"])).map(({ value }) => value);
  // A refused receiver has a name too, which is not known.
  const isComplete = config.receivers !== refused && names.length === (receivers ?? []).length;
  return settingsOf(config).flatMap(({ path, value }) => {
    const list = partsOf(value.receivers, [...path, "receivers"]).flatMap((routed) =>
      typeof routed.value === "string"
        ? [{ path: routed.path, value: routed.value }]
        : textOf([...routed.path, "name"], routed.value.name),
    );
    const strangers = list.filter((name) => isComplete && !names.includes(name.value));
    return [
      ...strangers.map((name) => ({
        path: name.path,
        message: `no receiver has the name ${JSON.stringify(name.value)}${suggest(name.value, names)}`,
      })),
      ...checkDuplicates("receiver", list, document),
    ];
  });
}

function checkApiKeys(config: WrittenConfig): Finding[] {
  const source = known(config.source);
  if (
    source === undefined ||
    writtenKind(config)?.isLocal !== false ||
    ("apiKey" in source && source.apiKey !== undefined)
  )
    return [];
  const message = "needs an apiKey, as source has none";
  const organizations = partsOf(config.organizations, ["organizations"]).filter(
    ({ value }) => typeof value === "string" || value.apiKey === undefined,
  );
  const discover = partsOf(config.discover, ["discover"]).map(({ path }) => ({
    path,
    message: "needs source.apiKey: what it lists has no key of its own",
  }));
  return [...organizations.map(({ path }) => ({ path, message })), ...discover];
}

/** A source is a URL or a file. */
function checkDiscover({ path, value }: Part<WrittenDiscover>): Finding[] {
  if (value.file === undefined)
    return value.url !== undefined ? [] : [{ path, message: "needs url or file: where the list of organizations is" }];
  const foreign = (["url", "headers"] as const).filter((key) => value[key] !== undefined);
  return foreign.map((key) => ({ path: [...path, key], message: "does not go with file", part: "key" }));
}

/** A second opinion is about names of stored events, and its verifier is a service or a file. */
function checkSecondOpinion(config: WrittenConfig): Finding[] {
  const opinion = known(config.secondOpinion);
  if (opinion === undefined) return [];
  const path = ["secondOpinion"];
  if (writtenKind(config)?.holdsEvents === false)
    return [{ path, message: "needs stored events with the names of assets: source.type: embedded", part: "key" }];
  const verifier = known(opinion.verifier);
  if (verifier === undefined) return [];
  if (verifier.file === undefined)
    return verifier.url !== undefined
      ? []
      : [{ path: [...path, "verifier"], message: "needs url or file: who looks at the assets", part: "key" }];
  const foreign = (["url", "secret"] as const).filter((key) => verifier[key] !== undefined);
  return foreign.map((key) => ({
    path: [...path, "verifier", key],
    message: "does not go with file",
    part: "key",
  }));
}

/** A file, or a PostgreSQL. */
function checkStorage(config: WrittenConfig): Finding[] {
  const storage = known(config.storage) ?? {};
  const isPostgres = storage.url !== undefined;
  if (isPostgres && storage.path !== undefined)
    return [{ path: ["storage", "path"], message: "does not go with url", part: "key" }];
  if (!isPostgres && storage.poolSize !== undefined)
    return [{ path: ["storage", "poolSize"], message: "goes with url only", part: "key" }];
  return [];
}

/** Checks need what not every source has. */
function checkChecks(config: WrittenConfig): Finding[] {
  const source = writtenKind(config);
  if (source === null) return [];
  const missing = {
    hasReports: `needs the platform's reports: with source.type ${source.type} there are none, so this check cannot run`,
    holdsEvents: `needs the liveness events in flatline's own store: with source.type ${source.type} there are none, so this check cannot run`,
  };
  const lacking = checkSettings.filter(({ needs }) => !source[needs]);
  return settingsOf(config).flatMap(({ path, value }) =>
    lacking.flatMap((settings) => {
      const written = known(value[settings.key]);
      const switchPath = written === undefined ? null : settings.switchOf(written);
      if (switchPath === null) return [];
      return [{ path: [...path, settings.key, ...switchPath], message: missing[settings.needs] }];
    }),
  );
}

/** The paths of the healthchecks that `defaults` or an organization lists. */
function pathsOf({ path, value }: Part<WrittenSettings>): Part<string>[] {
  return partsOf(value.healthchecks, [...path, "healthchecks"]).flatMap((one) =>
    textOf([...one.path, "path"], one.value.path),
  );
}

/**
 * Checks that the source has healthchecks, each path once in a list, and no two of one name: an organization has those
 * of `defaults` too.
 */
function checkHealthchecks(config: WrittenConfig, document: ConfigDocument): Finding[] {
  const lists = settingsOf(config).filter(({ value }) => (known(value.healthchecks) ?? []).length > 0);
  const source = writtenKind(config);
  if (source?.isLocal === true) {
    const message = `needs the platform's API: with source.type ${source.type} flatline evaluates by itself, and there is none`;
    return lists.map(({ path }) => ({ path: [...path, "healthchecks"], message, part: "key" }));
  }
  const byName = new Map<CheckName, Part<string>>();
  const alike = lists.flatMap(pathsOf).flatMap((part): Finding[] => {
    const name = healthcheckName(part.value);
    const first = byName.get(name) ?? part;
    byName.set(name, first);
    if (first.value === part.value) return [];
    const other = `${JSON.stringify(first.value)} at ${document.lineOf(first.path)}`;
    return [{ path: part.path, message: `gives its check the name ${JSON.stringify(name)}, as does ${other}` }];
  });
  const shared = pathsOf({ path: ["defaults"], value: known(config.defaults) ?? {} });
  const tooMany = lists.filter((list) => {
    const left = partsOf(list.value.healthchecks, []).filter(({ value }) => value.enabled === false);
    const paths = new Set([...shared, ...pathsOf(list)].map(({ value }) => value));
    return paths.size - left.length > mostHealthchecks;
  });
  const message = `must have at most ${mostHealthchecks} items with those of defaults`;
  return [
    ...tooMany.map(({ path }): Finding => ({ path: [...path, "healthchecks"], message, part: "key" })),
    ...lists.flatMap((list) => checkDuplicates("healthcheck", pathsOf(list), document)),
    ...alike,
  ];
}

function checkSilence({ path, value: silence }: Part<WrittenSilence>, checks: readonly CheckName[]): Finding[] {
  const findings = checkMatch({ path, value: silence }, checks);
  const isRecurring = [silence.schedule, silence.duration, silence.timezone].some((value) => value !== undefined);
  const wanted = isRecurring ? (["schedule", "duration"] as const) : (["startsAt", "endsAt"] as const);
  const kind = isRecurring
    ? "a recurring silence has schedule and duration"
    : "a silence has startsAt and endsAt, or schedule and duration";
  for (const key of wanted)
    if (silence[key] === undefined) findings.push({ path: [...path, key], message: `is required: ${kind}` });
  if (isRecurring) {
    const message = "does not go with schedule: a silence is fixed or recurring";
    for (const key of ["startsAt", "endsAt"] as const)
      if (silence[key] !== undefined) findings.push({ path: [...path, key], message, part: "key" });
    return findings;
  }
  const startsAtMs = parseInstant(known(silence.startsAt) ?? "");
  const endsAtMs = parseInstant(known(silence.endsAt) ?? "");
  if (startsAtMs !== null && endsAtMs !== null && endsAtMs <= startsAtMs)
    findings.push({ path: [...path, "endsAt"], message: "must be after startsAt" });
  return findings;
}

function checkMatch(
  { path, value }: Part<Pick<WrittenSilence, "slug" | "check" | "labels">>,
  checks: readonly CheckName[],
): Finding[] {
  const { slug, check, labels } = value;
  const findings: Finding[] = [];
  const hasLabels = labels === refused || Object.keys(labels ?? {}).length > 0;
  if (slug === undefined && check === undefined && !hasLabels)
    findings.push({ path, message: 'needs slug, check or labels; slug: "*" matches all' });
  const pattern = known(check);
  if (pattern !== undefined && !checks.some((name) => matchesText(pattern, name))) {
    const message = `matches no check: ${[...new Set(checks)].join(", ")}${suggest(pattern, checks)}`;
    findings.push({ path: [...path, "check"], message });
  }
  return findings;
}

/** Labels that no receiver of the configuration could be sent. */
function checkLabels(config: WrittenConfig, receivers: readonly Part<WrittenReceiver>[]): Finding[] {
  const kinds = receivers.flatMap(({ value }) => kindOf(value) ?? []);
  return settingsOf(config).flatMap(({ path, value }) =>
    Object.keys(known(value.labels) ?? {}).flatMap((name): Finding[] => {
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
  const match = known(receiver.match);
  const findings = match === undefined ? [] : checkMatch({ path: [...path, "match"], value: match }, checks);
  const kind = kindOf(receiver);
  if (receiver.sendActs === true && kind?.isWithoutActs === true) {
    const message = `does not go with type ${String(receiver["type"])}, which knows alerts that fire or are over and no judgement: use another receiver for them`;
    findings.push({ path: [...path, "sendActs"], message, part: "key" });
  }
  const problems = (await kind?.check?.(receiver)) ?? [];
  return [...findings, ...problems.map(({ key, ...problem }) => ({ path: [...path, key], ...problem }))];
}
