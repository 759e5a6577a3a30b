import { matches } from "../../alerting/decide/matching.ts";
import { forecastHold, isGateAlert, type HoldForecast } from "../../alerting/decide/gate.ts";
import { rulesAt, ruleOf, windowAt } from "../../alerting/decide/silences.ts";
import type { AlertTarget } from "../../alerting/settings.ts";
import type { Logger } from "../../base/logger.ts";
import { hourMs, minuteMs, secondMs, type Clock } from "../../base/time.ts";
import type { Regret } from "../../evidence/regret.ts";
import type { AlertState, KeptAlert } from "../../store/alerts/alerts.ts";
import type { History } from "../../store/runs/history.ts";
import type { Store } from "../../store/store.ts";
import type { PageAlert, PagePort } from "../../web/page/ports.ts";
import { readRegret } from "../evidence/regret-reading.ts";
import { readStoredResult } from "../evidence/stored-result.ts";
import type { CheckStates } from "../check-states.ts";
import type { Runtime } from "../runtime.ts";

export interface PageAlertsOptions {
  readonly store: Store;
  readonly states: Pick<CheckStates, "of">;
  readonly history: History;
  readonly runtime: Runtime;
  readonly clock: Clock;
  readonly logger: Logger;
}

// More than a person reads; the newest are kept.
const mostEnded = 2_000;
// Revivals come in over days, and pages are loaded again.
const rememberMs = 5 * minuteMs;
// A list waits this long in all for what has to be counted from single events; what is missing is there at the next look.
const countWithinMs = secondMs / 4;
// One alert's page waits for its own.
const countOneWithinMs = 2 * secondMs;

const holdsNever: HoldForecast = { now: false, acknowledged: false, checker: false, real: false, expected: false };

/** Alerts as the pages see them: those that live, and those that are over as long as they are kept. */
export function createPageAlerts(
  options: PageAlertsOptions,
): Pick<PagePort, "alerts" | "alert" | "actRules" | "holds"> {
  const { store, history, runtime, clock, logger } = options;
  const regrets = new Map<string, { readonly atMs: number; readonly regret: Regret | null }>();
  const expectations = new Map<string, number | null>();

  /** What was counted lately, else counted now while the signal lets it; null: unknown, or not counted yet. */
  async function deathsOf({ alert, end }: KeptAlert, signal: AbortSignal): Promise<PageAlert["deaths"]> {
    const nowMs = clock.nowMs();
    const known = regrets.get(alert.id);
    if (known !== undefined && nowMs - known.atMs < rememberMs) return known.regret;
    const { check, kind, slug, startsAtMs, windowHours = 24 } = alert;
    if (check !== "dead-asset-spike" || kind !== "verdict" || !runtime.current().config.source.holdsEvents) return null;
    if (signal.aborted) return known?.regret ?? null;
    const deaths = { afterMs: startsAtMs - windowHours * hourMs, untilMs: end?.atMs ?? nowMs };
    try {
      const regret = await readRegret(store.evidence, { slug, deaths, untilMs: nowMs }, signal);
      regrets.set(alert.id, { atMs: nowMs, regret });
      return regret;
    } catch (error) {
      if (!signal.aborted)
        logger.warn({ err: error, alertId: alert.id }, "undone deaths of an alert could not be counted");
      return known?.regret ?? null;
    }
  }

  /** What was expected at its peak; null: it is not counted, or not known. */
  async function expectedOf({ id, check, slug, kind, peak }: AlertState, signal: AbortSignal): Promise<number | null> {
    if (check !== "dead-asset-spike" || kind !== "verdict" || peak.currentCount === null) return null;
    const key = `${id} ${peak.atMs}`;
    const known = expectations.get(key);
    if (known !== undefined) return known;
    const report = options.states.of(check, slug)?.lastReport;
    const counts = report?.kind === "result" ? report.counts : null;
    // Nearly always the last run is the peak of what goes on: nothing has to be read.
    if (counts?.currentCount === peak.currentCount && counts.expectedCount !== null) return counts.expectedCount;
    if (signal.aborted) return null;
    // A point is of the end of its run, a peak of its begin.
    const points = await history.points({ check, slug, fromMs: peak.atMs - minuteMs, toMs: peak.atMs + 5 * minuteMs });
    const point = points.find(({ currentCount }) => currentCount === peak.currentCount) ?? points[0];
    const expected = point?.expectedCount ?? null;
    if (point !== undefined) expectations.set(key, expected);
    return expected;
  }

  async function viewer(): Promise<(kept: KeptAlert, signal: AbortSignal) => Promise<PageAlert>> {
    const nowMs = clock.nowMs();
    const { settings, config } = runtime.current();
    const stored = await store.silences.endingAfter(nowMs);
    const rules = rulesAt([...settings.silences, ...stored.map(ruleOf)], nowMs);
    const organizations = new Map(config.organizations.map((one) => [one.slug, one]));
    return async (kept, signal) => {
      const { alert, end } = kept;
      const { check, slug } = alert;
      const target: AlertTarget | null = settings.targetOf(check, slug);
      const labels = target?.labels ?? {};
      const holding = end === null ? rules.filter((rule) => matches(rule, { check, slug, labels })) : [];
      const ends = holding.map((rule) => windowAt(rule, nowMs)?.endsAtMs ?? nowMs);
      const forMs = organizations.get(slug)?.alert.forMs ?? 0;
      const expected = await expectedOf(alert, signal);
      const { currentCount } = alert.peak;
      return {
        alert,
        endsAtMs: end?.atMs ?? null,
        labels,
        url: target?.url ?? null,
        isSilenced: holding.length > 0,
        silencedUntilMs: ends.length === 0 ? null : Math.max(...ends),
        firesAtMs: alert.state === "pending" && alert.kind === "verdict" && forMs > 0 ? alert.startsAtMs + forMs : null,
        expected,
        ratio: currentCount === null || expected === null || expected === 0 ? null : currentCount / expected,
        deaths: await deathsOf(kept, signal),
      };
    };
  }

  return {
    actRules: (slug) => {
      const organization = runtime.current().config.organizations.find((one) => one.slug === slug);
      if (organization === undefined) return null;
      const { gate, alert, receivers } = organization;
      const escalations = receivers.filter(({ afterMs }) => afterMs > 0);
      return { releaseOn: gate.releaseOn, repeatIntervalMs: alert.repeatIntervalMs, escalations };
    },
    holds: async () => {
      const { settings } = runtime.current();
      const failures = await store.gate.failures();
      const forecasts = failures.map((failure) => {
        const { id, slug } = failure.alert;
        return { id, slug, hold: forecastHold(failure, settings.gateOf(slug)) };
      });
      const bySlug = Map.groupBy(forecasts, ({ slug }) => slug);
      return (alert) => {
        const all = bySlug.get(alert.slug) ?? [];
        const own = all.find(({ id }) => id === alert.id)?.hold ?? holdsNever;
        return {
          ...own,
          isOfGate: isGateAlert(alert),
          others: all.filter((one) => one.id !== alert.id && one.hold.now).length,
        };
      };
    },
    alerts: async () => {
      const fromMs = clock.nowMs() - runtime.current().config.storage.retentionMs;
      const live = (await store.alerts.allLive()).map((alert): KeptAlert => ({ alert, end: null }));
      const ended = await store.alerts.allEnded({ fromMs, limit: mostEnded });
      const view = await viewer();
      const signal = clock.timeout(countWithinMs);
      const views: PageAlert[] = [];
      for (const kept of [...live, ...ended]) views.push(await view(kept, signal));
      return views;
    },
    alert: async (id) => {
      const kept = await store.alerts.find(id);
      if (kept === null) return null;
      const view = await viewer();
      return {
        view: await view(kept, clock.timeout(countOneWithinMs)),
        history: await store.alerts.historyOf(id),
        comments: await store.comments.of(kept.alert),
        worstResult: await readStoredResult(store.runs, kept),
      };
    },
  };
}
