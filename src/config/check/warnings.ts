import { suggest } from "../../base/suggestions.ts";
import { matchesText } from "../../base/text-pattern.ts";
import { checkSettings, isSwitchedOn } from "../../checks/checks.ts";
import { receiverKind } from "../../receivers/receivers.ts";
import {
  lookAt,
  partsOf,
  thresholdsOf,
  type Finding,
  type Look,
  type WrittenConfig,
  type WrittenSettings,
} from "./written.ts";

/** Returns what is valid and never takes effect, or contradicts itself (CONTRACT 4), of a configuration without a problem. */
export function findWarnings(config: WrittenConfig): readonly Finding[] {
  const look = lookAt(config);
  for (const check of [
    checkLinks,
    checkMultipliers,
    checkRoutes,
    checkMatches,
    checkGroups,
    checkSwitches,
    checkOtherSources,
  ])
    check(look);
  return look.findings;
}

/** Links that lead nowhere. */
function checkLinks({ config: { alerting, receivers = [], server }, say }: Look): void {
  if (alerting?.externalUrl !== undefined) return;
  const names = receivers.filter(({ type }) => receiverKind(type).hasLinks === true).map(({ name }) => name);
  if (names.length > 0)
    say(
      ["alerting", "externalUrl"],
      `is not set: messages to ${names.join(", ")} have no link to the incident; set it to the address by which people reach flatline`,
    );
  else if (server?.linkSecret !== undefined)
    say(["server", "linkSecret"], "signs no links while alerting.externalUrl is not set");
}

function checkMultipliers(look: Look): void {
  for (const { path, value } of look.settings) {
    const { warnMultiplier: warn, failMultiplier: fail } = thresholdsOf(look, value);
    const key = (["failMultiplier", "warnMultiplier"] as const).find((one) => value.thresholds?.[one] !== undefined);
    if (key === undefined || fail >= warn) continue;
    const message = `failMultiplier ${fail} is below warnMultiplier ${warn}: fail is tried first, so that this never warns`;
    look.say([...path, "thresholds", key], message);
  }
}

/** The organizations, each with what `defaults` says merged; one without a slug stands for those that are discovered. */
function organizationsOf({ config: { organizations = [], discover }, defaults }: Look) {
  const own = organizations.map((one): WrittenSettings & { readonly slug?: string } =>
    typeof one === "string" ? { slug: one } : one,
  );
  return [...own, ...(discover === undefined ? [] : [{}])].map((one: (typeof own)[number]) => ({
    slug: one.slug,
    labels: { ...defaults.labels, ...one.labels },
    receivers: (one.receivers ?? defaults.receivers)?.map((routed) =>
      typeof routed === "string" ? routed : routed.name,
    ),
  }));
}

function checkRoutes(look: Look): void {
  const organizations = organizationsOf(look);
  if (organizations.length === 0 || organizations.some(({ receivers }) => receivers === undefined)) return;
  const routed = new Set(organizations.flatMap(({ receivers = [] }) => receivers));
  for (const { path, value } of partsOf(look.config.receivers, "receivers"))
    if (!routed.has(value.name))
      look.say(path, "gets nothing: `receivers` of defaults and organizations do not name it");
}

/** Silences and receivers of organizations that are none; what is discovered may be any. */
function checkMatches(look: Look): void {
  const { silences, receivers, discover } = look.config;
  const organizations = organizationsOf(look);
  if (organizations.length === 0 || discover !== undefined) return;
  const slugs = organizations.flatMap(({ slug = [] }) => slug);
  const fits = (pattern: string, text: string | undefined): boolean => text !== undefined && matchesText(pattern, text);
  const matches = [
    ...partsOf(silences, "silences"),
    ...partsOf(receivers, "receivers").flatMap(({ path, value: { match } }) =>
      match === undefined ? [] : [{ path: [...path, "match"], value: match }],
    ),
  ];
  for (const { path, value } of matches) {
    const { slug, labels = {} } = value;
    const isOfAny = organizations.some(
      (one) =>
        (slug === undefined || fits(slug, one.slug)) &&
        Object.entries(labels).every(([name, pattern]) => fits(pattern, one.labels[name])),
    );
    const key = slug === undefined ? "labels" : "slug";
    if (!isOfAny) look.say([...path, key], `matches no organization${suggest(slug ?? "", slugs)}`);
  }
}

/** Groups that a header, a list with commas, never names. */
function checkGroups({ config: { server }, say }: Look): void {
  const message = "no proxy can send this group: its header has a comma between two groups, and no blanks around them";
  for (const group of Object.keys(server?.trustedProxy?.may ?? {}))
    if (/^$|^\s|\s$|[,\p{Cc}]/u.test(group)) say(["server", "trustedProxy", "may", group], message, "key");
}

/** Settings of checks that nothing switches on, and healthchecks left out that are not there. */
function checkSwitches({ settings, defaults, say }: Look): void {
  for (const check of checkSettings) {
    const { key } = check;
    const written = settings.filter(({ value }) => value[key] !== undefined);
    const isSaid = written.some(({ value }) => {
      const said = { ...defaults[key], ...value[key] };
      return isSwitchedOn(check, said) || "enabled" in said || "assets" in said;
    });
    const [first] = written;
    if (!isSaid && first !== undefined) say([...first.path, key], "has no effect: the check is not switched on", "key");
  }
  const shared = (defaults.healthchecks ?? []).map(({ path }) => path);
  for (const { path, value } of settings)
    for (const one of partsOf(value.healthchecks, ...path, "healthchecks"))
      if (one.value.enabled === false && (path[0] === "defaults" || !shared.includes(one.value.path)))
        say(one.path, "leaves out a healthcheck that defaults does not have");
}

/** Settings that the source makes no use of. */
function checkOtherSources({ config, source, settings, say }: Look): void {
  if (source.holdsEvents) return;
  const message = `has no effect with source.type ${source.type}`;
  for (const { path, value } of settings) {
    if (value.whenNoEvents === "ok") say([...path, "whenNoEvents"], message);
    if ((value.alert?.minBaselineCoverage ?? 0) > 0 && !source.isLocal)
      say([...path, "alert", "minBaselineCoverage"], message);
  }
  if (!["0s", undefined].includes(config.storage?.eventRetention)) say(["storage", "eventRetention"], message);
}
