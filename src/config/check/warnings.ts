import { layered } from "../../base/layers.ts";
import { suggest } from "../../base/suggestions.ts";
import { matchesText } from "../../base/text-pattern.ts";
import { checkSettings, isSwitchedOn } from "../../checks/checks.ts";
import { receiverKind } from "../../receivers/receivers.ts";
import { builtinSettings } from "../schema/organization.ts";
import {
  keysOf,
  kindOfSource,
  partsOf,
  settingsOf,
  type Finding,
  type Part,
  type WrittenConfig,
  type WrittenSettings,
  type WrittenSilence,
} from "./written.ts";

/** Returns what is valid and never takes effect, or contradicts itself (CONTRACT 4), of a configuration without a problem. */
export function findWarnings(config: WrittenConfig): Finding[] {
  return [
    ...checkLinks(config),
    ...checkMultipliers(config),
    ...checkRoutes(config),
    ...checkMatches(config),
    ...checkGroups(config),
    ...checkSwitches(config),
    ...checkOtherSources(config),
  ];
}

/** Links that lead nowhere. */
function checkLinks({ alerting, receivers = [], server }: WrittenConfig): Finding[] {
  if (alerting?.externalUrl !== undefined) return [];
  const names = receivers.filter(({ type }) => receiverKind(type).hasLinks === true).map(({ name }) => name);
  const message = `is not set: messages to ${names.join(", ")} have no link to the incident; set it to the address by which people reach flatline`;
  if (names.length > 0) return [{ path: ["alerting", "externalUrl"], message }];
  if (server?.linkSecret === undefined) return [];
  return [{ path: ["server", "linkSecret"], message: "signs no links while alerting.externalUrl is not set" }];
}

function checkMultipliers(config: WrittenConfig): Finding[] {
  return settingsOf(config).flatMap(({ path, value: { thresholds } }): Finding[] => {
    const merged = layered(builtinSettings.thresholds, config.defaults?.thresholds, thresholds);
    const { warnMultiplier: warn, failMultiplier: fail } = merged;
    const key = (["failMultiplier", "warnMultiplier"] as const).find((one) => thresholds?.[one] !== undefined);
    if (key === undefined || fail >= warn) return [];
    const message = `failMultiplier ${fail} is below warnMultiplier ${warn}: fail is tried first, so that this never warns`;
    return [{ path: [...path, "thresholds", key], message }];
  });
}

/** The organizations, each with what `defaults` says merged; one without a slug stands for those that are discovered. */
function organizationsOf({ defaults = {}, organizations = [], discover }: WrittenConfig) {
  const own = organizations.map((one): WrittenSettings & { readonly slug?: string } =>
    typeof one === "string" ? { slug: one } : one,
  );
  return [...own, ...(discover === undefined ? [] : [{}])].map((one: (typeof own)[number]) => ({
    slug: one.slug,
    labels: layered<Readonly<Record<string, string>>>({}, defaults.labels, one.labels),
    receivers: (one.receivers ?? defaults.receivers)?.map((routed) =>
      typeof routed === "string" ? routed : routed.name,
    ),
  }));
}

function checkRoutes(config: WrittenConfig): Finding[] {
  const organizations = organizationsOf(config);
  if (organizations.length === 0 || organizations.some(({ receivers }) => receivers === undefined)) return [];
  const routed = new Set(organizations.flatMap(({ receivers = [] }) => receivers));
  const unused = partsOf(config.receivers, ["receivers"]).filter(({ value }) => !routed.has(value.name));
  const message = "gets nothing: `receivers` of defaults and organizations do not name it";
  return unused.map(({ path }) => ({ path, message }));
}

/** Silences and receivers of organizations that are none; what is discovered may be any. */
function checkMatches(config: WrittenConfig): Finding[] {
  const organizations = organizationsOf(config);
  if (organizations.length === 0 || config.discover !== undefined) return [];
  const slugs = organizations.flatMap(({ slug = [] }) => slug);
  const matches: Part<Pick<WrittenSilence, "slug" | "labels">>[] = [
    ...partsOf(config.silences, ["silences"]),
    ...keysOf(partsOf(config.receivers, ["receivers"]), "match"),
  ];
  return matches.flatMap(({ path, value: { slug, labels = {} } }): Finding[] => {
    const fits = (pattern: string, text: string | undefined): boolean =>
      text !== undefined && matchesText(pattern, text);
    const isOfAny = organizations.some(
      (one) =>
        (slug === undefined || fits(slug, one.slug)) &&
        Object.entries(labels).every(([name, pattern]) => fits(pattern, one.labels[name])),
    );
    if (isOfAny) return [];
    const key = slug === undefined ? "labels" : "slug";
    return [{ path: [...path, key], message: `matches no organization${suggest(slug ?? "", slugs)}` }];
  });
}

/** Groups that a header, a list with commas, never names. */
function checkGroups({ server }: WrittenConfig): Finding[] {
  const message = "no proxy can send this group: its header has a comma between two groups, and no blanks around them";
  return Object.keys(server?.trustedProxy?.may ?? {})
    .filter((group) => /^$|^\s|\s$|[,\p{Cc}]/u.test(group))
    .map((group) => ({ path: ["server", "trustedProxy", "may", group], message, part: "key" }));
}

/** Settings of checks that nothing switches on, and healthchecks left out that are not there. */
function checkSwitches(config: WrittenConfig): Finding[] {
  const settings = settingsOf(config);
  const { defaults = {} } = config;
  const unused = checkSettings.flatMap((check): Finding[] => {
    const { key } = check;
    const written = keysOf(settings, key).map(({ path, value }) => ({ path, own: { ...defaults[key], ...value } }));
    const isSaid = written.some(({ own }) => isSwitchedOn(check, own) || "enabled" in own || "assets" in own);
    const message = "has no effect: the check is not switched on";
    return isSaid ? [] : written.slice(0, 1).map(({ path }) => ({ path, message, part: "key" }));
  });
  const shared = (defaults.healthchecks ?? []).map(({ path }) => path);
  const leftOut = settings.flatMap(({ path, value }) =>
    partsOf(value.healthchecks, [...path, "healthchecks"]).filter(
      (one) => one.value.enabled === false && (path[0] === "defaults" || !shared.includes(one.value.path)),
    ),
  );
  return [
    ...unused,
    ...leftOut.map(({ path }) => ({ path, message: "leaves out a healthcheck that defaults does not have" })),
  ];
}

/** Settings that the source makes no use of. */
function checkOtherSources(config: WrittenConfig): Finding[] {
  const source = kindOfSource(config);
  if (source.holdsEvents) return [];
  const message = `has no effect with source.type ${source.type}`;
  const ofSettings = settingsOf(config).flatMap(({ path, value }) => [
    ...(value.whenNoEvents === "ok" ? [[...path, "whenNoEvents"]] : []),
    ...((value.alert?.minBaselineCoverage ?? 0) > 0 && !source.isLocal
      ? [[...path, "alert", "minBaselineCoverage"]]
      : []),
  ]);
  const isKept = ["0s", undefined].includes(config.storage?.eventRetention);
  return [...ofSettings, ...(isKept ? [] : [["storage", "eventRetention"]])].map((path) => ({ path, message }));
}
