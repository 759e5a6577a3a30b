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

/** Returns the values of a valid configuration that never take effect or contradict each other (CONTRACT 4). */
export function findWarnings(config: WrittenConfig): readonly Finding[] {
  const look = lookAt(config);
  checkServer(look);
  checkReach(look);
  checkSettingsOf(look);
  checkSwitches(look);
  return look.findings;
}

/** Warns of missing links, and of groups that a header with commas between cannot name. */
function checkServer({ config: { alerting, receivers = [], server }, say }: Look): void {
  const names = receivers.filter(({ type }) => receiverKind(type).hasLinks === true).map(({ name }) => name);
  const hasUrl = alerting?.externalUrl !== undefined;
  if (!hasUrl && names.length > 0)
    say(
      ["alerting", "externalUrl"],
      `is not set: messages to ${names.join(", ")} have no link to the incident; ` +
        "set it to the address by which people reach flatline",
    );
  else if (!hasUrl && server?.linkSecret !== undefined)
    say(["server", "linkSecret"], "signs no links while alerting.externalUrl is not set");
  const message = "no proxy can send this group: its header has a comma between two groups, and no blanks around them";
  for (const group of Object.keys(server?.trustedProxy?.may ?? {}))
    say(["server", "trustedProxy", "may", group], /^$|^\s|\s$|[,\p{Cc}]/u.test(group) && message, "key");
}

/** Warns of slugs that YAML folded, of receivers that get nothing, and of silences and receivers that match nothing. */
function checkReach({ config, defaults, say }: Look): void {
  const { discover, receivers, silences } = config;
  // One without a slug stands for discovered organizations.
  const listed: readonly (string | (WrittenSettings & { readonly slug?: string }))[] = [
    ...(config.organizations ?? []),
    ...(discover === undefined ? [] : [{}]),
  ];
  const isFolded = "is one name of several words: is a line indented too far? Each organization has its own `-`";
  for (const { path, value } of partsOf(config.organizations, "organizations"))
    say(path, typeof value === "string" && /\s-\s|:\s/.test(value) && isFolded);
  const organizations = listed.map((one) => {
    const { slug, labels, receivers = defaults.receivers } = typeof one === "string" ? { ...defaults, slug: one } : one;
    return { slug, labels: { ...defaults.labels, ...labels }, receivers };
  });
  if (organizations.length === 0) return;
  const routes = organizations.map((one) => one.receivers);
  const routed = new Set(routes.flatMap((some = []) => some.map((one) => (typeof one === "string" ? one : one.name))));
  const isRouted = (name: string): boolean => routes.includes(undefined) || routed.has(name);
  for (const { path, value } of partsOf(receivers, "receivers"))
    say(path, !isRouted(value.name) && "gets nothing: `receivers` of defaults and organizations do not name it");

  if (discover !== undefined) return;
  const fits = (pattern: string, text: string | undefined): boolean => text !== undefined && matchesText(pattern, text);
  const matches = partsOf(receivers, "receivers").flatMap(({ path, value: { match } }) =>
    match === undefined ? [] : [{ path: [...path, "match"], value: match }],
  );
  for (const { path, value } of [...partsOf(silences, "silences"), ...matches]) {
    const { slug, labels = {} } = value;
    const isOfAny = organizations.some(
      (one) =>
        (slug === undefined || fits(slug, one.slug)) &&
        Object.entries(labels).every(([name, pattern]) => fits(pattern, one.labels[name])),
    );
    if (isOfAny) continue;
    const slugs = organizations.flatMap((one) => one.slug ?? []);
    say([...path, slug === undefined ? "labels" : "slug"], `matches no organization${suggest(slug ?? "", slugs)}`);
  }
}

/** Warns of multipliers that never warn, and of settings that the source does not use. */
function checkSettingsOf(look: Look): void {
  const { config, source, say } = look;
  const message = `has no effect with source.type ${source.type}`;
  for (const { path, value } of look.settings) {
    const { warnMultiplier: warn, failMultiplier: fail } = thresholdsOf(look, value);
    const key = (["failMultiplier", "warnMultiplier"] as const).find((one) => value.thresholds?.[one] !== undefined);
    if (key !== undefined && fail < warn)
      say(
        [...path, "thresholds", key],
        `failMultiplier ${fail} is below warnMultiplier ${warn}: fail is tried first, so that this never warns`,
      );
    say([...path, "whenNoEvents"], value.whenNoEvents === "ok" && !source.holdsEvents && message);
    const isWithCoverage = (value.alert?.minBaselineCoverage ?? 0) > 0;
    say([...path, "alert", "minBaselineCoverage"], isWithCoverage && !source.isLocal && message);
  }
  const isKept = ["0s", undefined].includes(config.storage?.eventRetention);
  say(["storage", "eventRetention"], !isKept && !source.holdsEvents && message);
}

/** Warns of settings of checks that are off, and of healthchecks that are left out but not in `defaults`. */
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
    for (const one of partsOf(value.healthchecks, ...path, "healthchecks")) {
      const isThere = path[0] !== "defaults" && shared.includes(one.value.path);
      say(one.path, one.value.enabled === false && !isThere && "leaves out a healthcheck that defaults does not have");
    }
}
