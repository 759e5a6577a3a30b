import type { AlertNotice, FleetNotice } from "../alerting/notify/notification.ts";
import type { SampledAsset } from "../alerting/notify/notification.ts";

/** Returns dead assets with one of each kind of address, for sample notifications. */
export function sampledAssets(nowMs: number): SampledAsset[] {
  return [
    {
      asset: "https://login.acme-pay.example/en?next=/home.html",
      assetType: "URL",
      deadAtMs: nowMs - 60_000,
      attributes: { checker: "eu-1", reason: "tls" },
    },
    { asset: "support@acme-help.example", assetType: "EMAIL", deadAtMs: nowMs - 90_000, attributes: {} },
    { asset: "acme-wallet.example", assetType: "DOMAIN", deadAtMs: nowMs - 120_000, attributes: {} },
  ];
}

/** The evidence of a fleet verdict, for sample notifications. */
export const fleetEvidence: NonNullable<FleetNotice["evidence"]> = {
  beganAtMs: Date.UTC(2026, 0, 14, 23, 12),
  markers: [{ text: "checker 4.2 deployed", atMs: Date.UTC(2026, 0, 14, 22, 54) }],
  undone: { share: 0.41, organizations: 7 },
};

/** Returns alerts whose texts of others hold addresses, made of an alert of a sentinel and one without a result. */
export function alertsWithAddresses(sentinel: AlertNotice, unknown: AlertNotice): AlertNotice[] {
  return [
    {
      ...sentinel,
      result:
        sentinel.result === null
          ? null
          : {
              ...sentinel.result,
              findings: [
                { kind: "sentinel", ref: "acme", severity: "fail", message: "1 of 12 assets is called dead" },
                {
                  kind: "sentinel.asset",
                  ref: "login.acme.example",
                  severity: "fail",
                  message: "login.acme.example is known to be alive and was called dead",
                },
                { kind: "page", ref: null, severity: "fail", message: "seen at https://evil.example/a?b=c.d" },
              ],
              suggestedAction: "See https://app.example.com/o/acme, not ftp://files.evil.example/x.",
            },
    },
    {
      ...unknown,
      error: { reason: "invalid_response", message: "GET https://evil.example/login: kim@evil.example" },
    },
  ];
}
