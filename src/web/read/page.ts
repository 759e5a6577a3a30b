import { matches } from "../../alerting/decide/matching.ts";
import { ruleOf, windowAt, type SilenceWindow } from "../../alerting/decide/silences.ts";
import { listedSilence } from "../../alerting/silence-book.ts";
import type { AlertView } from "../../alerting/view.ts";
import { literalOf } from "../../base/text-pattern.ts";
import { nextCronAtMs } from "../../base/cron.ts";
import { renderConfig } from "../../config/render.ts";
import type { ListedSilence, SilenceRule } from "../../contract/silence.ts";
import type { Severity } from "../../contract/severity.ts";
import type { DeliveryAttempt } from "../../store/alerts/deliveries.ts";
import type { Running } from "./running.ts";
import type { StoredSilence } from "../../store/alerts/silences.ts";

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
  return {
    /** The organizations, in the configuration's order. */
    slugs: () => running.config().organizations.map(({ slug }) => slug),
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
