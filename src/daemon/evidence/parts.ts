import { isSpike } from "../../checks/checks.ts";
import type { Loop } from "../../base/loop.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import { checkKey } from "../../contract/check-key.ts";
import type { AlertAssetsPort } from "../../web/ports/dead-assets.ts";
import { createAlertAssets, type AlertAssetsOptions } from "./alert-assets.ts";
import { createEndedAlerts, type EndedAlertsOptions } from "./ended-alerts.ts";
import { createRegretBook } from "./regret-book.ts";
import type { Runtime } from "../runtime.ts";

/** What looks at single events beside the runs of the checks. */
export interface EvidenceParts extends Loop {
  readonly endedAlerts: ReturnType<typeof createEndedAlerts>;
  readonly alertAssets: AlertAssetsPort;
}

export interface EvidencePartsOptions
  extends Omit<EndedAlertsOptions, "windowHoursOf" | "store">, Pick<AlertAssetsOptions, "store"> {
  readonly runtime: Runtime;
  readonly metrics: Pick<Metrics, "falseDeathRatio">;
}

/** Creates the parts over the store's events; with another source they have nothing to look at. */
export function createEvidenceParts(options: EvidencePartsOptions): EvidenceParts {
  const { runtime, metrics } = options;
  const isOurs = (): boolean => runtime.current().config.source.holdsEvents;
  const regrets = createRegretBook({
    ...options,
    slugs: () => (isOurs() ? runtime.current().config.organizations.map(({ slug }) => slug) : []),
    onRatio: (slug, ratio) => metrics.falseDeathRatio("dead-asset-spike", slug, ratio),
  });
  const endedAlerts = createEndedAlerts({
    ...options,
    windowHoursOf: (slug) => {
      const target = runtime.current().targetByKey.get(checkKey({ check: "dead-asset-spike", slug }));
      return isOurs() && target !== undefined && isSpike(target) ? target.thresholds.windowHours : null;
    },
  });
  return { ...regrets, endedAlerts, alertAssets: createAlertAssets({ ...options, isOurs }) };
}
