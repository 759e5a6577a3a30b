import { matches } from "../../alerting/decide/matching.ts";
import { ruleOf, windowAt, type SilenceWindow } from "../../alerting/decide/silences.ts";
import { listedSilence } from "../../alerting/silence-book.ts";
import { readAlertingView, type AlertView } from "../../alerting/view.ts";
import type { Clock } from "../../base/time.ts";
import type { SilenceRule } from "../../contract/silence.ts";
import { nextCronAtMs } from "../../base/cron.ts";
import type { StoredSilence } from "../../store/alerts/silences.ts";
import type { Store } from "../../store/store.ts";
import type { PagePort, PageSilence } from "../../web/ports/page.ts";
import type { Runtime } from "../runtime.ts";

export interface PageSilencesOptions {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly clock: Clock;
}

/** All silences as the page lists them: those of the configuration, and those of run time as long as they are kept. */
export function createPageSilences({ store, runtime, clock }: PageSilencesOptions): Pick<PagePort, "silences"> {
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
