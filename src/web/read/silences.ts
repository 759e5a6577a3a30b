import { matches } from "../../alerting/decide/matching.ts";
import { ruleOf, windowAt, type SilenceWindow } from "../../alerting/decide/silences.ts";
import { listedSilence, type ListedSilence } from "../../alerting/silence-book.ts";
import { literalOf } from "../../base/text-pattern.ts";
import { nextCronAtMs } from "../../base/cron.ts";
import type { SilenceRule } from "../../contract/silence.ts";
import type { Running } from "./running.ts";
import type { StoredSilence } from "../../store/alerts/silences.ts";

/** A silence with its matches; a recurring one has its current window, or its next one. */
export interface PageSilence extends ListedSilence {
  readonly startsAtMs: number;
  readonly endsAtMs: number;
  /** Slugs of the configured organizations that it matches. */
  readonly organizations: readonly string[];
  /** Number of firing alerts that it matches. */
  readonly firing: number;
}

/** Reads all silences: those of the configuration, and those of the store within the retention. */
export async function readSilences(running: Running): Promise<readonly PageSilence[]> {
  const { store, config, settings, clock, fleet } = running;
  const nowMs = clock.nowMs();
  const { organizations, storage } = config();
  const stored = await store.silences.endingAfter(nowMs - storage.retentionMs);
  const { alerts } = await fleet();
  const firing = alerts.filter((alert) => alert.state === "firing");
  const bySlug = Map.groupBy(organizations, ({ slug }) => slug);
  const firingBySlug = Map.groupBy(firing, (alert) => alert.slug);
  const look = (rule: SilenceRule, silence: StoredSilence | null): PageSilence => {
    const { check: _check, ...whichOrganizations } = rule;
    // A silence of a large incident is stored as thousands, each for one organization.
    const only = rule.slug === undefined ? null : literalOf(rule.slug);
    const some = only === null ? organizations : (bySlug.get(only) ?? []);
    const someFiring = only === null ? firing : (firingBySlug.get(only) ?? []);
    return {
      ...listedSilence(rule, silence, nowMs),
      ...spanOf(rule, nowMs),
      organizations: some
        .filter(({ slug, labels }) => matches(whichOrganizations, { slug, check: "", labels }))
        .map(({ slug }) => slug),
      firing: someFiring.filter(({ slug, check, target }) =>
        matches(rule, { slug, check, labels: target?.labels ?? {} }),
      ).length,
    };
  };
  return [
    ...settings().silences.map((rule) => look(rule, null)),
    ...stored.map((silence) => look(ruleOf(silence), silence)),
  ];
}

/** Returns the current window, otherwise the next one, otherwise the last one. */
function spanOf(rule: SilenceRule, nowMs: number): SilenceWindow {
  const current = windowAt(rule, nowMs);
  if (current !== null) return current;
  if (rule.kind === "fixed") return { startsAtMs: rule.startsAtMs, endsAtMs: rule.endsAtMs };
  const startsAtMs = nextCronAtMs({ pattern: rule.schedule, timezone: rule.timezone }, nowMs);
  if (startsAtMs === null) return { startsAtMs: nowMs, endsAtMs: nowMs };
  return { startsAtMs, endsAtMs: startsAtMs + rule.durationMs };
}
