import { matches } from "../../alerting/decide/matching.ts";
import { ruleOf, windowAt, type SilenceWindow } from "../../alerting/decide/silences.ts";
import { listedSilence } from "../../alerting/silence-book.ts";
import type { AlertView } from "../../alerting/view.ts";
import { literalOf } from "../../base/text-pattern.ts";
import { nextCronAtMs } from "../../base/cron.ts";
import { checkSettings } from "../../checks/checks.ts";
import type { Config, OrganizationConfig } from "../../config/config.ts";
import { builtinOrganization } from "../../config/resolve/organization.ts";
import { describeOrganization, renderConfig, shownLabels } from "../../config/render.ts";
import type { ListedSilence, SilenceRule } from "../../contract/silence.ts";
import type { Severity } from "../../contract/severity.ts";
import type { DeliveryAttempt } from "../../store/alerts/deliveries.ts";
import type { Running } from "./running.ts";
import type { StoredSilence } from "../../store/alerts/silences.ts";

/** One setting of an organization as it holds. */
export interface PageSetting {
  readonly name: string;
  readonly value: string;
  /** What it is where nobody says it; null: nothing. */
  readonly usual: string | null;
}

/** What the configuration says of an organization's spike check. */
export interface PageOrganization {
  readonly slug: string;
  /** The discovery source that lists it; null: the file does. */
  readonly discoveredBy: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly thresholds: {
    readonly windowHours: number;
    readonly baselineDays: number;
    readonly warnMultiplier: number;
    readonly failMultiplier: number;
    readonly minSpikeCount: number;
  };
  /** What holds, in order. */
  readonly settings: readonly PageSetting[];
  /** How long it must be bad before it fires, milliseconds. */
  readonly forMs: number;
}

export interface PageConfiguration {
  /** The effective configuration as YAML, secrets as `***`; of many organizations the first. */
  readonly text: string;
  /** How many organizations of the file are not in `text`. */
  readonly omitted: number;
  readonly file: string;
  readonly appliedAtMs: number;
  /** The last reload; null: none since the start. */
  readonly lastReload: { readonly atMs: number; readonly problem: string | null } | null;
}

/** A silence of either origin with what it holds back, and of a recurring one the window that holds, else the next. */
export interface PageSilence extends ListedSilence {
  readonly startsAtMs: number;
  readonly endsAtMs: number;
  /** The configured ones that it is about. */
  readonly organizations: readonly string[];
  /** Severities of the alerts that fire and are meant by it. */
  readonly firing: readonly Severity[];
}

/** What keeps itself current beside the store, for pages. */
export interface PageParts {
  /** When the configuration was applied, and how the last reload went. */
  readonly reloads: () => Pick<PageConfiguration, "appliedAtMs" | "lastReload">;
}

// More lines than the page shows of them. All of 2,000 organizations took 0.9 s (2026-11), in which nothing else ran.
const renderedOrganizations = 20;

/** What the pages read beside what the API reads. */
export type PageReading = ReturnType<typeof createPageReading>;

/** Returns the readings over what runs. */
export function createPageReading(running: Running, { reloads }: PageParts) {
  const { store } = running;
  let known: { readonly config: Config; readonly organizations: readonly PageOrganization[] } | null = null;

  function organizations(): readonly PageOrganization[] {
    const config = running.config();
    if (known?.config !== config) {
      const usual = new Map(settingsOf(builtinOrganization(config.receivers.map(({ name }) => name))));
      known = { config, organizations: config.organizations.map((one) => pageOrganization(one, usual)) };
    }
    return known.organizations;
  }

  return {
    /** In the configuration's order. */
    organizations,
    /** Those of the configuration, then those made at run time as long as they are kept. */
    silences: () => readSilences(running),
    /** For how long what is over is kept, milliseconds. */
    retentionMs: () => running.config().storage.retentionMs,
    storeProblem: () => running.storeProblem(),
    /** Size of the store, bytes. */
    storeBytes: () => store.bytes(),
    /** What a receiver, or all of them (null), answered last, newest first. */
    deliveries: (receiver: string | null, limit: number): Promise<readonly DeliveryAttempt[]> =>
      store.deliveries.latest({ receiver, limit }),
    /** The last attempt that a receiver accepted, or the last that it did not; null without one. */
    lastDelivery: (receiver: string, isAccepted: boolean): Promise<DeliveryAttempt | null> =>
      store.deliveries.last(receiver, isAccepted),
    /** The sources of organizations. */
    discovery: () => running.discovery(),
    configuration: (): PageConfiguration => {
      const config = running.config();
      const written = config.organizations.filter(({ discoveredBy }) => discoveredBy === null);
      const shown = written.slice(0, renderedOrganizations);
      return {
        text: renderConfig({ ...config, organizations: shown }),
        omitted: written.length - shown.length,
        file: config.file,
        ...reloads(),
      };
    },
  };
}

function pageOrganization(organization: OrganizationConfig, usual: ReadonlyMap<string, string>): PageOrganization {
  const { slug, thresholds, alert, discoveredBy } = organization;
  return {
    slug,
    discoveredBy,
    labels: shownLabels(organization),
    thresholds,
    forMs: alert.forMs,
    // Thousands of organizations have tens of them each: whoever asks gets them, and nobody keeps them.
    get settings() {
      return settingsOf(organization).map(([path, value]) => ({
        name: path.replace(/^thresholds\./, ""),
        value,
        usual: usual.get(path) ?? null,
      }));
    },
  };
}

/** Returns every setting with its path, but what an organization is known by: its slug, its key and its labels. */
function settingsOf(organization: OrganizationConfig): [path: string, value: string][] {
  const { slug: _slug, apiKey: _apiKey, labels: _labels, ...settings } = describeOrganization(organization);
  return textsOf("", settings);
}

function textsOf(path: string, value: unknown): [path: string, value: string][] {
  if (Array.isArray(value)) return [[path, listText(path, value)]];
  if (value === null) return [];
  if (typeof value !== "object") return [[path, typeof value === "string" ? value : JSON.stringify(value)]];
  const inner = path === "" ? "" : `${path}.`;
  return Object.entries(value).flatMap(([key, member]) => textsOf(`${inner}${key}`, member));
}

function listText(path: string, entries: readonly unknown[]): string {
  // A check's list may be of assets, which need the right to read; the settings are public.
  if (checkSettings.some(({ key }) => path.startsWith(`${key}.`))) return String(entries.length);
  // "pager after 30m"
  const texts = entries.map((entry) =>
    textsOf("", entry)
      .map(([key, text]) => (["", "name", "path"].includes(key) ? text : `${key} ${text}`))
      .join(" "),
  );
  return texts.join(", ") || "none";
}

/** All silences as the page lists them: those of the configuration, and those of run time as long as they are kept. */
async function readSilences({ store, config, settings, clock, fleet }: Running): Promise<readonly PageSilence[]> {
  const nowMs = clock.nowMs();
  const { organizations, storage } = config();
  const stored = await store.silences.endingAfter(nowMs - storage.retentionMs);
  const { alerts } = await fleet();
  const firing = alerts.filter(({ alert }) => alert.state === "firing");
  const bySlug = Map.groupBy(organizations, ({ slug }) => slug);
  const firingBySlug = Map.groupBy(firing, ({ alert }) => alert.slug);
  const look = (rule: SilenceRule, silence: StoredSilence | null): PageSilence => {
    const { check: _check, ...whichOrganizations } = rule;
    // A silence of an incident of thousands is as many, each of one organization.
    const only = rule.slug === undefined ? null : literalOf(rule.slug);
    const some = only === null ? organizations : (bySlug.get(only) ?? []);
    const someFiring = only === null ? firing : (firingBySlug.get(only) ?? []);
    return {
      ...listedSilence(rule, silence, nowMs),
      ...spanOf(rule, nowMs),
      organizations: some
        .filter(({ slug, labels }) => matches(whichOrganizations, { slug, check: "", labels }))
        .map(({ slug }) => slug),
      firing: someFiring.filter((view) => matches(rule, subjectOf(view))).map(({ alert }) => alert.severity),
    };
  };
  return [
    ...settings().silences.map((rule) => look(rule, null)),
    ...stored.map((silence) => look(ruleOf(silence), silence)),
  ];
}

function subjectOf({ alert, target }: AlertView): Parameters<typeof matches>[1] {
  return { slug: alert.slug, check: alert.check, labels: target?.labels ?? {} };
}

/** The window that holds, else the next one, else the one that is over. */
function spanOf(rule: SilenceRule, nowMs: number): SilenceWindow {
  const current = windowAt(rule, nowMs);
  if (current !== null) return current;
  if (rule.kind === "fixed") return { startsAtMs: rule.startsAtMs, endsAtMs: rule.endsAtMs };
  const startsAtMs = nextCronAtMs({ pattern: rule.schedule, timezone: rule.timezone }, nowMs);
  if (startsAtMs === null) return { startsAtMs: nowMs, endsAtMs: nowMs };
  return { startsAtMs, endsAtMs: startsAtMs + rule.durationMs };
}
