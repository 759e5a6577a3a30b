import type { AlertNotice, FleetNotice, SampledAsset } from "../alerting/notify/notification.ts";

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

/** Returns notices of acts on an alert that fires and on the same one when it is over, with kind and summary. */
export function actsOn(firing: AlertNotice, resolved: AlertNotice, nowMs: number) {
  const comment = "the captcha page of https://evil.example/login";
  const said = { by: "kim", comment, atMs: nowMs };
  const assetsUrl = `https://flatline.example.com/api/v1/alerts/${firing.id}/assets`;
  const restoreUrl = "https://flatline.example.com/api/v1/incidents/41/assets?toRestore=true";
  const common = { result: null, counts: null, previousSeverity: "fail", assetsUrl, act: said } as const;
  const checker = { ...said, verdict: "checker", note: null } as const;
  const real = { ...said, verdict: "real", note: null } as const;
  const judged: AlertNotice = {
    ...firing,
    ...common,
    event: "judged",
    reason: "judged_checker",
    judgement: checker,
    restoreUrl,
  };
  const over: AlertNotice = { ...resolved, ...common, event: "judged", reason: "judged_real", judgement: real };
  const withdrawn: AlertNotice = { ...firing, ...common, event: "judged", reason: "judgement_withdrawn" };
  const opened: AlertNotice = { ...over, event: "released", reason: "released_by_judgement" };
  const byHand: AlertNotice = { ...firing, ...common, event: "released", reason: "released_by_hand" };
  const twice = [byHand, { ...byHand, id: `${byHand.id.slice(0, -1)}2` }];
  const taken: AlertNotice = { ...firing, ...common, event: "acknowledged", reason: "acknowledged" };
  const undone: AlertNotice = { ...firing, ...common, event: "unacknowledged", reason: "unacknowledged" };
  return [
    ["acknowledged", [taken], "acme: acknowledged by kim"],
    ["unacknowledged", [undone], "acme: unacknowledged by kim"],
    ["judged", [judged], "acme: judged checker by kim"],
    ["judged-released", [over, opened], "acme: takedowns allowed, judged real by kim"],
    ["withdrawn", [withdrawn], "acme: judgement withdrawn by kim"],
    ["released", twice, "acme: takedowns allowed, released by hand by kim (2 alerts)"],
  ] as const;
}
