import type { Store } from "../../store/store.ts";
import { heldGates, holdingFailures, releaseOf } from "../decide/gate.ts";
import { noteActNotice, type ActEntry } from "./act-notice.ts";
import type { AlertingSettings } from "../settings.ts";

/** What held before a change of the configuration. */
export interface SettingsBefore {
  readonly settings: Pick<AlertingSettings, "gateOf">;
  /** The instant at which this process applied it. */
  readonly sinceMs: number;
}

/** What holds from now on. */
export interface GateSettingsChange {
  readonly store: Pick<Store, "transaction">;
  readonly settings: Pick<AlertingSettings, "gateOf" | "receivers">;
  readonly nowMs: number;
}

/**
 * Records each hold that a change of the configuration ends (`gate.releaseOn`, or an organization that now follows `defaults`),
 * and notes all of them as one act for the receivers with `sendActs`. A change that is applied again is recorded once.
 * Alerts that the change ends are not looked at here: their end records it. Wake the notifier afterwards.
 */
export function recordGatesOpenedByReload(
  { store, settings, nowMs }: GateSettingsChange,
  before: SettingsBefore,
): Promise<void> {
  return store.transaction(async (parts) => {
    const failures = await parts.gate.unreleased(await parts.alerts.allLive());
    const held = heldGates(failures, (slug) => settings.gateOf(slug));
    const recorded = await parts.log.releasedSince(before.sinceMs);
    const opened = failures.flatMap((failure) => {
      const { id, slug } = failure.alert;
      const isHeldBefore = holdingFailures([failure], before.settings.gateOf(slug)).length > 0;
      const how = releaseOf(failure, settings.gateOf(slug));
      return !isHeldBefore || how === null || held.has(slug) || recorded.has(id) ? [] : [{ ...failure, how }];
    });
    const nobody = { by: null, comment: null };
    for (const [how, some] of Map.groupBy(opened, (one) => one.how))
      await parts.log.released(
        some.map(({ alert }) => alert.id),
        { ...nobody, how, atMs: nowMs },
      );
    const entries = opened.map(({ alert, end }): ActEntry => {
      const endsAtMs = end?.atMs ?? null;
      return { event: "released", reason: "released_by_configuration", alert, endsAtMs, ...nobody };
    });
    await noteActNotice(parts, { settings, slug: "configuration", nowMs }, entries);
  });
}
