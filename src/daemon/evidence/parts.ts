import { isSpike } from "../../checks/checks.ts";
import { checkKey } from "../../contract/check-key.ts";
import type { AlertAssetsPort } from "../../web/ports/dead-assets.ts";
import { createAlertAssets, type AlertAssetsOptions } from "./alert-assets.ts";
import { createEndedAlerts, type EndedAlertsOptions } from "./ended-alerts.ts";
import type { Runtime } from "../runtime.ts";

/** What looks at single events beside the runs of the checks. */
export interface EvidenceParts {
  readonly endedAlerts: ReturnType<typeof createEndedAlerts>;
  readonly alertAssets: AlertAssetsPort;
}

export interface EvidencePartsOptions
  extends Omit<EndedAlertsOptions, "windowHoursOf" | "store">, Pick<AlertAssetsOptions, "store"> {
  readonly runtime: Runtime;
}

/** Creates the parts over the store's events; with another source they have nothing to look at. */
export function createEvidenceParts(options: EvidencePartsOptions): EvidenceParts {
  const { runtime } = options;
  const isOurs = (): boolean => runtime.current().config.source.holdsEvents;
  const endedAlerts = createEndedAlerts({
    ...options,
    windowHoursOf: (slug) => {
      const target = runtime.current().targetByKey.get(checkKey({ check: "dead-asset-spike", slug }));
      return isOurs() && target !== undefined && isSpike(target) ? target.thresholds.windowHours : null;
    },
  });
  return { endedAlerts, alertAssets: createAlertAssets({ ...options, isOurs }) };
}
