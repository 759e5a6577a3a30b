import { checkSettings } from "../../checks/checks.ts";
import { suggest } from "../../base/suggestions.ts";
import { matchesText } from "../../base/text-pattern.ts";
import { known } from "../document/accepted.ts";
import { builtinSettings } from "../schema/organization.ts";
import {
  kindOf,
  partsOf,
  settingsOf,
  writtenKind,
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
function checkLinks({ alerting, receivers, server }: WrittenConfig): Finding[] {
  if (known(alerting)?.externalUrl !== undefined) return [];
  const linked = partsOf(receivers, []).filter(({ value }) => kindOf(value)?.hasLinks === true);
  const names = linked.map(({ value }) => known(value.name)).join(", ");
  const message = `is not set: messages to ${names} have no link to the incident; set it to the address by which people reach flatline`;
  if (names !== "") return [{ path: ["alerting", "externalUrl"], message }];
  if ((known(server)?.linkSecret ?? "") === "") return [];
  return [{ path: ["server", "linkSecret"], message: "signs no links while alerting.externalUrl is not set" }];
}

function checkMultipliers(config: WrittenConfig): Finding[] {
  const shared = known(known(config.defaults)?.thresholds);
  return settingsOf(config).flatMap(({ path, value }): Finding[] => {
    const own = known(value.thresholds);
    const { warnMultiplier: warn, failMultiplier: fail } = { ...builtinSettings.thresholds, ...shared, ...own };
    const key = (["failMultiplier", "warnMultiplier"] as const).find((one) => own?.[one] !== undefined);
    if (key === undefined || Number(fail) >= Number(warn)) return [];
    const message = `failMultiplier ${Number(fail)} is below warnMultiplier ${Number(warn)}: fail is tried first, so that this never warns`;
    return [{ path: [...path, "thresholds", key], message }];
  });
}

type Organization = WrittenSettings & { readonly slug?: unknown };

/** The organizations, each with what `defaults` says merged; one without a slug stands for those that are discovered. */
function organizationsOf({ defaults, organizations, discover }: WrittenConfig) {
  const shared = known(defaults) ?? {};
  const own = partsOf(organizations, []).map(({ value }): Organization =>
    typeof value === "string" ? { slug: value } : value,
  );
  return [...own, ...(discover === undefined ? [] : [{}])].map((one: Organization) => ({
    slug: known(one.slug),
    labels: { ...known(shared.labels), ...known(one.labels) },
    receivers: partsOf(one.receivers ?? shared.receivers, []).map(({ value }) =>
      typeof value === "string" ? value : known(value.name),
    ),
    hasAll: (one.receivers ?? shared.receivers) === undefined,
  }));
}

function checkRoutes(config: WrittenConfig): Finding[] {
  const organizations = organizationsOf(config);
  if (organizations.length === 0 || organizations.some(({ hasAll }) => hasAll)) return [];
  const routed = new Set(organizations.flatMap(({ receivers }) => receivers));
  const unused = partsOf(config.receivers, ["receivers"]).filter(({ value }) => !routed.has(known(value.name)));
  const message = "gets nothing: `receivers` of defaults and organizations do not name it";
  return unused.map(({ path }) => ({ path, message }));
}

/** Silences and receivers of organizations that are none; what is discovered may be any. */
function checkMatches(config: WrittenConfig): Finding[] {
  const organizations = organizationsOf(config);
  if (organizations.length === 0 || config.discover !== undefined) return [];
  const slugs = organizations.flatMap(({ slug }) => (typeof slug === "string" ? [slug] : []));
  const matches: Part<Pick<WrittenSilence, "slug" | "labels">>[] = [
    ...partsOf(config.silences, ["silences"]),
    ...partsOf(config.receivers, ["receivers"]).flatMap(({ path, value: { match } }) => {
      const value = known(match);
      return value === undefined ? [] : [{ path: [...path, "match"], value }];
    }),
  ];
  return matches.flatMap(({ path, value }): Finding[] => {
    const slug = known(value.slug);
    const labels = Object.entries(known(value.labels) ?? {});
    const fits = (pattern: unknown, text: unknown): boolean =>
      typeof pattern !== "string" || (text !== undefined && (typeof text !== "string" || matchesText(pattern, text)));
    const isOfAny = organizations.some(
      (one) => fits(slug, one.slug) && labels.every(([name, pattern]) => fits(pattern, one.labels[name])),
    );
    if (isOfAny) return [];
    const key = slug === undefined ? "labels" : "slug";
    return [{ path: [...path, key], message: `matches no organization${suggest(slug ?? "", slugs)}` }];
  });
}

/** Groups that a header, a list with commas, never names. */
function checkGroups({ server }: WrittenConfig): Finding[] {
  const groups = Object.keys(known(known(known(server)?.trustedProxy)?.may) ?? {});
  const message = "no proxy can send this group: its header has a comma between two groups, and no blanks around them";
  return groups
    .filter((group) => /^$|^\s|\s$|[,\p{Cc}]/u.test(group))
    .map((group) => ({ path: ["server", "trustedProxy", "may", group], message, part: "key" }));
}

/** Settings of checks that nothing switches on, and healthchecks left out that are not there. */
function checkSwitches(config: WrittenConfig): Finding[] {
  const settings = settingsOf(config);
  const defaults = known(config.defaults) ?? {};
  const unused = checkSettings.flatMap((check): Finding[] => {
    const { key } = check;
    const written = settings.flatMap(({ path, value }) => {
      const own = known(value[key]);
      return own === undefined ? [] : [{ path: [...path, key], own: { ...known(defaults[key]), ...own } }];
    });
    const isSaid = written.some(({ own }) => check.switchOf(own) !== null || "enabled" in own || "assets" in own);
    const message = "has no effect: the check is not switched on";
    return isSaid ? [] : written.slice(0, 1).map(({ path }) => ({ path, message, part: "key" }));
  });
  const shared = partsOf(defaults.healthchecks, []).map(({ value }) => known(value.path));
  const leftOut = settings.flatMap(({ path, value }) =>
    partsOf(value.healthchecks, [...path, "healthchecks"]).filter(
      (one) => one.value.enabled === false && (path[0] === "defaults" || !shared.includes(known(one.value.path))),
    ),
  );
  return [
    ...unused,
    ...leftOut.map(({ path }) => ({ path, message: "leaves out a healthcheck that defaults does not have" })),
  ];
}

/** Settings that the source makes no use of. */
function checkOtherSources(config: WrittenConfig): Finding[] {
  const source = writtenKind(config);
  if (source === null || source.holdsEvents) return [];
  const message = `has no effect with source.type ${source.type}`;
  const ofSettings = settingsOf(config).flatMap(({ path, value }) => [
    ...(value.whenNoEvents === "ok" ? [[...path, "whenNoEvents"]] : []),
    ...((known(known(value.alert)?.minBaselineCoverage) ?? 0) > 0 && !source.isLocal
      ? [[...path, "alert", "minBaselineCoverage"]]
      : []),
  ]);
  const isKept = ["0s", undefined].includes(known(known(config.storage)?.eventRetention));
  return [...ofSettings, ...(isKept ? [] : [["storage", "eventRetention"]])].map((path) => ({ path, message }));
}
