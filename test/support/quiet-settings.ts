import type { AlertingSettings } from "../../src/alerting/settings.ts";

/** Decides no alerts and notifies nobody. */
export const quietSettings: AlertingSettings = {
  groupWaitMs: 0,
  groupIntervalMs: 0,
  incidentWithinMs: 30 * 60_000,
  fleet: null,
  externalUrl: null,
  slugs: [],
  source: "embedded",
  receivers: [],
  silences: [],
  targetOf: () => null,
  gateOf: () => ({ releaseOn: ["judged"], whenUnknown: "allow" }),
  isGateConfigured: true,
};
