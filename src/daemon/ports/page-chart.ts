import { matches } from "../../alerting/decide/matching.ts";
import { nextChangeAtMs, ruleOf, windowAt } from "../../alerting/decide/silences.ts";
import type { Clock } from "../../base/time.ts";
import { stretchesAt } from "../../contract/judgement.ts";
import type { SilenceRule } from "../../contract/silence.ts";
import type { StoredSilence } from "../../store/alerts/silences.ts";
import type { Store } from "../../store/store.ts";
import type { PagePort, PageSilencedSpan } from "../../web/page/ports.ts";
import { stretchesReader } from "../baselines.ts";
import type { CheckStates } from "../check-states.ts";
import type { Runtime } from "../runtime.ts";

export interface PageChartOptions {
  readonly store: Store;
  readonly states: Pick<CheckStates, "of">;
  readonly runtime: Runtime;
  readonly clock: Clock;
}

const spike = "dead-asset-spike" as const;
// A silence that comes each minute is drawn as far as this; a chart of a year shows no more.
const mostWindows = 500;

/** Returns what stands behind the count in a chart, and the comments beside its lanes. */
export function createPageChart(
  options: PageChartOptions,
): Pick<PagePort, "silencedSpans" | "excludedSpans" | "commentsOn"> {
  const { store, states, runtime } = options;
  return {
    silencedSpans: async (slug, fromMs, toMs) => {
      const { settings } = runtime.current();
      const subject = { slug, check: spike, labels: settings.targetOf(spike, slug)?.labels ?? {} };
      const spansOf = (rule: SilenceRule, stored: StoredSilence | null): PageSilencedSpan[] =>
        matches(rule, subject) ? windowsIn(rule, fromMs, toMs).map((one) => ({ ...one, ...saidOf(rule, stored) })) : [];
      const stored = await store.silences.endingAfter(fromMs);
      return [
        ...settings.silences.flatMap((rule) => spansOf(rule, null)),
        ...stored.flatMap((silence) => spansOf(ruleOf(silence), silence)),
      ].toSorted((left, right) => left.fromMs - right.fromMs);
    },
    excludedSpans: async (slug, nowMs) => {
      const report = states.of(spike, slug)?.lastReport;
      // Where too much would be left out nothing is (CONTRACT 12).
      if (report?.kind === "result" && report.result.observed["baselineExclusion"] === "too_much") return [];
      const { stretches } = stretchesReader(runtime.current().config, store);
      return stretches === undefined ? [] : stretchesAt((await stretches([slug])).get(slug) ?? [], nowMs);
    },
    commentsOn: async (alertIds) => {
      const kept = await Promise.all(alertIds.map((id) => store.alerts.find(id)));
      const comments = await Promise.all(kept.map(async (one) => (one === null ? [] : store.comments.of(one.alert))));
      return comments.flat().toSorted((left, right) => left.atMs - right.atMs);
    },
  };
}

function saidOf(
  { comment }: SilenceRule,
  stored: StoredSilence | null,
): Pick<PageSilencedSpan, "comment" | "madeAtMs" | "by"> {
  return { comment, madeAtMs: stored?.createdAtMs ?? null, by: stored?.createdBy ?? null };
}

/** The windows of a rule that touch the time. */
function windowsIn(rule: SilenceRule, fromMs: number, toMs: number): { fromMs: number; toMs: number }[] {
  const found: { fromMs: number; toMs: number }[] = [];
  let atMs = fromMs;
  while (found.length < mostWindows && atMs < toMs) {
    const window = windowAt(rule, atMs);
    if (window !== null) {
      found.push({ fromMs: window.startsAtMs, toMs: window.endsAtMs });
      atMs = window.endsAtMs;
    }
    if (window === null || windowAt(rule, atMs) === null) {
      const nextMs = nextChangeAtMs(rule, atMs);
      if (nextMs === null) break;
      atMs = nextMs;
    }
  }
  return found;
}
