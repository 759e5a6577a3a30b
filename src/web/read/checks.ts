import type { AlertView } from "../../alerting/view.ts";
import type { Actor } from "../../contract/actor.ts";
import { checkKey } from "../../contract/check-key.ts";
import type { CheckName, CheckReport } from "../../contract/report.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import type { CheckState, Running } from "./running.ts";

/** A check of an organization with its live alerts. */
export interface CheckSnapshot {
  readonly state: CheckState;
  readonly alerts: readonly (Alert & { readonly silenced: boolean })[];
}

/** The checks with their alerts, as the API shows them. */
export type CheckReading = ReturnType<typeof createCheckReading>;

/** Returns the readings over what runs. */
export function createCheckReading(running: Running) {
  const { store, clock, checks } = running;

  async function alertsByCheck(): Promise<Map<string, AlertView[]>> {
    const { alerts } = await running.fleet();
    return Map.groupBy(alerts, (alert) => checkKey(alert));
  }

  function snapshot(state: CheckState, alerts: readonly AlertView[]): CheckSnapshot {
    return {
      state,
      alerts: alerts.map((alert) => ({ ...alert, silenced: alert.isSilenced })),
    };
  }

  return {
    names: () => running.checkNames(),
    list: async (): Promise<readonly CheckSnapshot[]> => {
      const alerts = await alertsByCheck();
      return checks.all().map((state) => snapshot(state, alerts.get(checkKey(state)) ?? []));
    },
    /** null: it is not configured. */
    get: async (check: CheckName, slug: string): Promise<CheckSnapshot | null> => {
      const state = checks.of(check, slug);
      return state === null ? null : snapshot(state, (await alertsByCheck()).get(checkKey(state)) ?? []);
    },
    /** Runs it as an act of `author`. @throws as Running.runNow */
    runNow: async (check: CheckName, slug: string, author: Actor): Promise<CheckReport> => {
      const report = await running.runNow(check, slug);
      const detail = { severity: report.severity };
      await store.audit.append({ atMs: clock.nowMs(), actor: author, action: "run", slug, subject: check, detail });
      return report;
    },
  };
}
