import { pageUrl } from "../base/url.ts";
import type { AlertingSettings, AlertTarget } from "../alerting/settings.ts";
import type { Config, OrganizationConfig } from "../config/config.ts";
import type { CheckName } from "../contract/report.ts";
import { checkKey } from "../contract/check-key.ts";
import { healthcheckName } from "../contract/platform-healthcheck.ts";
import { targetsOf, type CheckTarget } from "../checks/checks.ts";
import { organizationUrl } from "../spike/evaluate.ts";

/** Returns the checks of a configuration, one for each pair of check and slug. */
export function checkTargets(config: Config): CheckTarget[] {
  const { holdsEvents } = config.source;
  return config.organizations.flatMap((organization) =>
    targetsOf({ ...organization, whenNoEvents: holdsEvents ? organization.whenNoEvents : null }),
  );
}

/** Returns the part of the configuration that alerting needs. */
export function alertingSettings(config: Config): AlertingSettings {
  const targets = new Map(config.organizations.map((one) => [one.slug, alertTarget(config, one)]));
  const ofChecks = new Map(config.organizations.flatMap(healthcheckTargets));
  const watched = new Set(checkTargets(config).map(checkKey));

  /** Returns the healthchecks whose `alert` differs from their organization's. */
  function healthcheckTargets(one: OrganizationConfig): [key: string, target: AlertTarget][] {
    return one.healthchecks.flatMap(({ path, alert }) => {
      if (alert === null) return [];
      const target = alertTarget(config, { ...one, alert: { ...one.alert, ...alert } });
      return [[checkKey({ check: healthcheckName(path), slug: one.slug }), target]];
    });
  }

  const gates = new Map(config.organizations.map(({ slug, gate }) => [slug, gate]));
  return {
    ...config.alerting,
    incidentWithinMs: config.alerting.incident.withinMs,
    slugs: config.organizations.map(({ slug }) => slug),
    source: config.source.isLocal ? config.source.type : new URL(config.source.baseUrl).host,
    hasAssets: config.source.holdsEvents,
    receivers: config.receivers,
    silences: config.silences,
    targetOf: (check: CheckName, slug: string) => {
      const key = checkKey({ check, slug });
      return watched.has(key) ? (ofChecks.get(key) ?? targets.get(slug) ?? null) : null;
    },
    gateOf: (slug: string) => gates.get(slug) ?? config.defaults.gate,
    isGateConfigured: config.isGateConfigured,
  };
}

function alertTarget({ appUrl, alerting }: Config, organization: OrganizationConfig): AlertTarget {
  const { alert, receivers, labels, slug } = organization;
  // The link leads to the application if its address is known, else to flatline's own page.
  const url =
    organizationUrl(appUrl, slug) ?? pageUrl(alerting.externalUrl, `o/${encodeURIComponent(slug.toWellFormed())}`);
  return { policy: alert, receivers, labels, url };
}
