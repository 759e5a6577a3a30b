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
  readonly store: Pick<Store, "alerts" | "gate" | "transaction">;
  readonly settings: Pick<AlertingSettings, "gateOf" | "receivers">;
  readonly nowMs: number;
}

const lookedAtReleases = 100;

/**
 * Records each hold that a change of the configuration ends (`gate.releaseOn`, or an organization that now follows `defaults`)
 * and notes it for the receivers with `sendActs`. A change that is applied again is recorded once.
 * Alerts that the change ends are not looked at here: their end records it. Wake the notifier afterwards.
 */
export async function recordGatesOpenedByReload(
  { store, settings, nowMs }: GateSettingsChange,
  before: SettingsBefore,
): Promise<void> {
  const failures = await store.gate.unreleased(await store.alerts.allLive());
  const held = heldGates(failures, (slug) => settings.gateOf(slug));
  for (const slug of heldGates(failures, (one) => before.settings.gateOf(one)).keys()) {
    if (held.has(slug)) continue;
    await store.transaction(async (parts) => {
      const known = await parts.gate.failures(slug);
      if (holdingFailures(known, settings.gateOf(slug)).length > 0) return;
      const recorded = await parts.log.releases(slug, lookedAtReleases);
      const entries: ActEntry[] = [];
      for (const failure of holdingFailures(known, before.settings.gateOf(slug))) {
        const { alert, end } = failure;
        const how = releaseOf(failure, settings.gateOf(slug));
        const isRecorded = recorded.some(({ alertId, atMs }) => alertId === alert.id && atMs >= before.sinceMs);
        if (how === null || isRecorded) continue;
        const endsAtMs = end === null ? null : end.atMs;
        const nobody = { by: null, comment: null };
        await parts.log.released([alert.id], { ...nobody, how, atMs: nowMs });
        entries.push({ event: "released", reason: "released_by_configuration", alert, endsAtMs, ...nobody });
      }
      await noteActNotice(parts, { settings, slug, nowMs }, entries);
    });
  }
}
