import { dirname, relative } from "node:path";

import { matches } from "../../alerting/decide/matching.ts";
import { ruleOf, windowAt, type SilenceWindow } from "../../alerting/decide/silences.ts";
import { listedSilence } from "../../alerting/silence-book.ts";
import { readAlertingView, type AlertView } from "../../alerting/view.ts";
import { nextCronAtMs } from "../../base/cron.ts";
import type { Clock } from "../../base/time.ts";
import { checkSettings } from "../../checks/checks.ts";
import type { Config, OrganizationConfig } from "../../config/config.ts";
import { describeOrganization, renderConfig } from "../../config/render.ts";
import type { SilenceRule } from "../../contract/silence.ts";
import type { StoredSilence } from "../../store/alerts/silences.ts";
import type { Store } from "../../store/store.ts";
import type { PageConfiguration, PageOrganization, PagePort, PageSetting, PageSilence } from "../../web/ports/page.ts";
import type { DeliveryLog } from "../delivery-log.ts";
import type { HourBook } from "../hour-book.ts";
import type { Runtime } from "../runtime.ts";
import { readQueues } from "./page-queue.ts";

export interface PagePortOptions {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly clock: Clock;
  readonly hours: HourBook;
  readonly deliveries: DeliveryLog;
  readonly subscribe: PagePort["subscribe"];
  /** Calls those who subscribed. */
  readonly publish: () => void;
  readonly storeProblem: PagePort["storeProblem"];
  /** When the configuration was applied, and how the last reload went. */
  readonly reloads: () => Pick<PageConfiguration, "appliedAtMs" | "lastReload">;
}

// More lines than the page shows of them. All of 2,000 organizations took 0.9 s (2026-11), in which nothing else ran.
const renderedOrganizations = 20;

/** Creates the rooms as the pages see them. */
export function createPagePort(options: PagePortOptions): PagePort {
  const { store, runtime } = options;
  let known: { readonly config: Config; readonly organizations: readonly PageOrganization[] } | null = null;

  function organizations(): readonly PageOrganization[] {
    const { config } = runtime.current();
    if (known?.config !== config) {
      const folder = dirname(config.files[0] ?? "");
      const isOwn = ownPlaces(config.organizations);
      known = { config, organizations: config.organizations.map((one) => pageOrganization(one, folder, isOwn)) };
    }
    return known.organizations;
  }

  return {
    ...createPageSilences(options),
    retentionMs: () => runtime.current().config.storage.retentionMs,
    storeProblem: options.storeProblem,
    storeBytes: () => store.bytes(),
    organizations,
    hours: (slug) => options.hours.known(slug),
    readHours: async (slugs) => {
      if ((await options.hours.read(slugs)) > 0) options.publish();
    },
    deliveries: async (receiver, limit) => {
      await options.deliveries.flush();
      return store.deliveries.latest({ receiver, limit });
    },
    lastDelivery: async (receiver, isAccepted) => {
      await options.deliveries.flush();
      return store.deliveries.last(receiver, isAccepted);
    },
    queue: (signal) => readQueues(runtime.current(), signal),
    configuration: () => {
      const { config } = runtime.current();
      const written = config.organizations.filter(({ discoveredBy }) => discoveredBy === null);
      const organizations = written.slice(0, renderedOrganizations);
      const text = renderConfig({ ...config, organizations });
      return { text, omitted: written.length - organizations.length, files: config.files, ...options.reloads() };
    },
    subscribe: options.subscribe,
  };
}

function pageOrganization(
  organization: OrganizationConfig,
  folder: string,
  isOwnPlace: ReturnType<typeof ownPlaces>,
): PageOrganization {
  const { slug, labels, thresholds, alert, setAt, discoveredBy } = organization;
  const setting = ([path, value]: readonly [string, string]): PageSetting => {
    // A list stands where its first entry does, and what an empty object switches on where that stands.
    const above = path.includes(".") ? path.slice(0, path.lastIndexOf(".")) : path;
    const place =
      setAt[path] ?? setAt[`${path}[0]`] ?? setAt[`${path}[0].name`] ?? setAt[`${path}[0].path`] ?? setAt[above];
    const isOwn = place !== undefined && isOwnPlace(organization, place);
    const name = path.replace(/^thresholds\./, "");
    return { name, value, setIn: place === undefined ? "default" : shorten(place, folder), isOwn };
  };
  let shown: readonly PageSetting[] | null = null;
  return {
    slug,
    origin:
      discoveredBy === null
        ? { kind: "file", place: shorten(setAt[""] ?? "", folder) }
        : { kind: "discovery", source: discoveredBy },
    labels,
    thresholds,
    forMs: alert.forMs,
    // Thousands of organizations have tens of them each, and a visit of the overview shows none.
    get settings() {
      shown ??= settingsOf(organization).map(setting);
      return shown;
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

/** Without the folder of the configuration: who may read the page need not know the machine. */
function shorten(place: string, folder: string): string {
  // In no file, but in a list that a source gave.
  if (!/:\d+$/.test(place)) return place;
  const colon = place.lastIndexOf(":");
  const file = relative(folder, place.slice(0, colon));
  return `${file.startsWith("..") || file === "" ? place.slice(place.lastIndexOf("/") + 1, colon) : file}${place.slice(colon)}`;
}

/** Answers whether a place is in the text of an organization: from its line on, up to where the next one begins. */
function ownPlaces(
  organizations: readonly OrganizationConfig[],
): (organization: OrganizationConfig, place: string) => boolean {
  const begins = new Map<string, number[]>();
  for (const { setAt } of organizations) {
    const [file, line] = splitPlace(setAt[""] ?? "");
    const lines = begins.get(file);
    if (lines === undefined) begins.set(file, [line]);
    else lines.push(line);
  }
  const nextOf = new Map<string, number>();
  for (const [file, lines] of begins) {
    const sorted = [...new Set(lines)].toSorted((left, right) => left - right);
    for (const [index, line] of sorted.entries()) {
      const next = sorted[index + 1];
      if (next !== undefined) nextOf.set(`${file}:${line}`, next);
    }
  }
  return ({ setAt }, place) => {
    const [file, line] = splitPlace(place);
    const [ownFile, ownLine] = splitPlace(setAt[""] ?? "");
    if (file !== ownFile || line < ownLine) return false;
    const next = nextOf.get(`${file}:${ownLine}`);
    return next === undefined || line < next;
  };
}

function splitPlace(place: string): readonly [file: string, line: number] {
  const colon = place.lastIndexOf(":");
  return [place.slice(0, colon), Number(place.slice(colon + 1))];
}

interface PageSilencesOptions {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly clock: Clock;
}

/** All silences as the page lists them: those of the configuration, and those of run time as long as they are kept. */
function createPageSilences({ store, runtime, clock }: PageSilencesOptions): Pick<PagePort, "silences"> {
  return {
    silences: async () => {
      const nowMs = clock.nowMs();
      const { config, settings } = runtime.current();
      const stored = await store.silences.endingAfter(nowMs - config.storage.retentionMs);
      const { alerts } = await readAlertingView(store, settings, nowMs);
      const firing = alerts.filter(({ alert }) => alert.state === "firing");
      const look = (rule: SilenceRule, silence: StoredSilence | null): PageSilence => {
        const { check: _check, ...whichOrganizations } = rule;
        return {
          ...listedSilence(rule, silence, nowMs),
          ...spanOf(rule, nowMs),
          organizations: config.organizations
            .filter(({ slug, labels }) => matches(whichOrganizations, { slug, check: "", labels }))
            .map(({ slug }) => slug),
          firing: firing.filter((view) => matches(rule, subjectOf(view))).map(({ alert }) => alert.severity),
        };
      };
      return [
        ...settings.silences.map((rule) => look(rule, null)),
        ...stored.map((silence) => look(ruleOf(silence), silence)),
      ];
    },
  };
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
