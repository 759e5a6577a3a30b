import type { ReadSample } from "../../alerting/notify/notifier.ts";
import { hourMs } from "../../base/time.ts";
import type { Config } from "../../config/config.ts";
import { describeDeath } from "../../web/read/dead-assets.ts";

/**
 * Reads the assets that the notifications of an alert's change name: the newest ones of the asset types that carry the excess
 * (CONTRACT 12). Within the transaction that forms them, so that each receiver and each retry gets the same ones.
 */
export function createAlertSample(config: () => Pick<Config, "source" | "alerting" | "organizations">): ReadSample {
  return async ({ evidence }, alert, report) => {
    const { source, alerting, organizations } = config();
    const { slug, check, kind, windowHours, startsAtMs } = alert;
    if (!source.holdsEvents || check !== "dead-asset-spike" || kind !== "verdict") return [];
    if (windowHours === undefined || report?.kind !== "result") return [];
    if (organizations.find((organization) => organization.slug === slug)?.sample === false) return [];
    const interval = { afterMs: startsAtMs - windowHours * hourMs, untilMs: Date.parse(report.result.generatedAt) };
    const deaths = await evidence.newestDeaths({
      spans: [{ slug, interval }],
      assetTypes: (report.evidence?.assetTypes ?? []).map(({ assetType }) => assetType),
      limit: alerting.sample,
    });
    if (deaths.length === 0) return [];
    const facts = await evidence.factsOf(deaths);
    return deaths.map((death) => describeDeath(death, facts));
  };
}
