import { actsOn, alertsWithAddresses, fleetEvidence, sampledAssets } from "./sampled-assets.ts";
import {
  incidentId,
  fleet,
  headline,
  incident,
  over,
  alone,
  aloneOver,
  unanswered,
  ofThree,
  nowMs,
  startsAtMs,
} from "./sample-incidents.ts";
import type { AlertNotice, Notification } from "../alerting/notify/notification.ts";
import type { HealthcheckResult } from "../contract/healthcheck.ts";
import type { SpikeOnset } from "../contract/spike-evidence.ts";

const result: HealthcheckResult = {
  id: "dead-asset-spike",
  title: "Spike in recently dead assets",
  category: "assets",
  generatedAt: "2026-01-15T12:00:00.000Z",
  scope: { slug: "acme" },
  ok: false,
  severity: "fail",
  observed: { currentCount: 5119, baselineCount: 78, expectedCount: 78 / 7, ratio: 5119 / (78 / 7) },
  threshold: {
    windowHours: 24,
    baselineDays: 7,
    warnMultiplier: 2,
    failMultiplier: 4,
    minSpikeCount: 10,
    warnAbove: (78 / 7) * 2,
    failAbove: (78 / 7) * 4,
  },
  findings: [
    {
      kind: "dead-asset-spike",
      ref: "acme",
      severity: "fail",
      message: "5,119 deaths in 24 h, 11.1 expected (459×)",
    },
    {
      kind: "dead-asset-spike.asset-type",
      ref: "DOMAIN",
      severity: "fail",
      message: "4,000 deaths of type DOMAIN in 24 h, 10.0 expected (excess 3,990)",
    },
    {
      kind: "dead-asset-spike.asset-type",
      ref: "URL",
      severity: "fail",
      message: "1,119 deaths of type URL in 24 h, 1.1 expected (excess 1,118)",
    },
  ],
  suggestedAction: "Open a sample of the newly dead assets by hand before anything acts on these deaths.",
  appUrl: "https://app.example.com/o/acme",
};

const firing: AlertNotice = {
  id: "0196f0a2-0000-7000-8000-000000000001",
  check: "dead-asset-spike",
  slug: "acme",
  kind: "verdict",
  event: "firing",
  status: "firing",
  severity: "fail",
  previousSeverity: "ok",
  reason: "not_ok",
  startsAtMs,
  endsAtMs: null,
  peak: { severity: "fail", currentCount: 5119, atMs: nowMs },
  labels: { team: "trust" },
  url: "https://app.example.com/o/acme",
  result,
  counts: { currentCount: 5119, baselineCount: 78, expectedCount: 78 / 7, ratio: 5119 / (78 / 7) },
  error: null,
};

const onset: SpikeOnset = {
  atMs: Date.UTC(2026, 0, 14, 21, 40),
  marker: { text: "captcha rollout", atMs: Date.UTC(2026, 0, 14, 21) },
};

const evident: HealthcheckResult = {
  ...result,
  observed: {
    ...result.observed,
    likelyCause: "checker",
    likelyCauseReason: "The deaths are concentrated in one value: 87 % reason=tls_handshake, usually 4 %.",
    onsetAt: "2026-01-14T21:40:00.000Z",
    marker: "captcha rollout",
    markerAt: "2026-01-14T21:00:00.000Z",
    revivedCount: 312,
  },
  findings: [
    ...result.findings,
    {
      kind: "dead-asset-spike.attribute",
      ref: "reason=tls_handshake",
      severity: "fail",
      message: "87 % reason=tls_handshake, usually 4 %",
    },
  ],
};

const warning: AlertNotice = {
  ...firing,
  id: "0196f0a2-0000-7000-8000-000000000002",
  slug: "globex",
  severity: "warn",
  peak: { severity: "warn", currentCount: 31, atMs: nowMs },
  labels: {},
  url: "https://app.example.com/o/globex",
  result: { ...result, severity: "warn", scope: { slug: "globex" }, findings: [], appUrl: null },
  counts: { currentCount: 31, baselineCount: 70, expectedCount: 10, ratio: 3.1 },
};

const resolved: AlertNotice = {
  ...firing,
  event: "resolved",
  status: "resolved",
  previousSeverity: "fail",
  reason: "back_to_ok",
  endsAtMs: nowMs,
  result: {
    ...result,
    ok: true,
    severity: "ok",
    observed: { currentCount: 7, baselineCount: 78, expectedCount: 78 / 7, ratio: 7 / (78 / 7) },
    findings: [],
    suggestedAction: null,
  },
  counts: { currentCount: 7, baselineCount: 78, expectedCount: 78 / 7, ratio: 7 / (78 / 7) },
};

const unknown: AlertNotice = {
  ...firing,
  id: "0196f0a2-0000-7000-8000-000000000003",
  kind: "unknown",
  event: "unknown",
  severity: "unknown",
  reason: "unknown_after_reached",
  peak: { severity: "unknown", currentCount: null, atMs: startsAtMs },
  result: null,
  counts: null,
  error: { reason: "forbidden", message: "the service answered 403: this key has no access" },
};

const recovered: AlertNotice = {
  ...unknown,
  event: "recovered",
  status: "resolved",
  previousSeverity: "unknown",
  reason: "result_returned",
  endsAtMs: nowMs,
  result: resolved.result,
  counts: resolved.counts,
  error: null,
};

/** One notification of each kind that receivers word, with made-up numbers: templates are tried on them, and goldens made. */
export function sampleNotifications(): Readonly<Record<string, Notification>> {
  const of = (alerts: readonly AlertNotice[], given: Partial<Notification> = {}): Notification => ({
    id: "0196f0a2-0000-7000-8000-00000000a000",
    receiver: "sample",
    status: alerts.some(({ status }) => status === "firing") ? "firing" : "resolved",
    severity: alerts[0]?.severity ?? "ok",
    summary: "acme: fail, 5,119 deaths, 11.1 expected (459×)",
    generatedAtMs: nowMs,
    externalUrl: "https://flatline.example.com",
    fleet: null,
    incident: null,
    alerts: alerts.map((alert) => ({ ...alert, incident: { id: incidentId, number: 41 } })),
    ...given,
  });
  const queue: AlertNotice = {
    ...firing,
    check: "review-queue",
    severity: "warn",
    peak: { severity: "warn", currentCount: null, atMs: nowMs },
    result: {
      ...result,
      id: "review-queue",
      category: "reviewing",
      severity: "warn",
      observed: { queued: 7, oldestAgeSeconds: 51_000 },
      threshold: { warnAfterSeconds: 14_400, failAfterSeconds: 86_400 },
      findings: [{ kind: "review-queue", ref: "9001", severity: "warn", message: "waits for 14h" }],
    },
    counts: null,
  };
  const uncounted = { counts: null, peak: { severity: "fail", currentCount: null, atMs: nowMs } } as const;
  const silenceMessage = "no liveness event of any status for 26 h, the last at 2026-01-14T10:00:00.000Z";
  const sentinel: AlertNotice = {
    ...firing,
    ...uncounted,
    check: "sentinel",
    result: {
      ...result,
      id: "sentinel",
      observed: { sentinels: 3, dead: 1, unseen: 0 },
      threshold: { failAbove: 0 },
      findings: [
        {
          kind: "sentinel",
          ref: "acme",
          severity: "fail",
          message: "1 of 3 assets that are known to be alive is called dead",
        },
        {
          kind: "sentinel.asset",
          ref: "https://login.acme.example",
          severity: "fail",
          message: "https://login.acme.example is known to be alive and was called dead at 2026-01-15T11:58:00.000Z",
        },
      ],
    },
  };
  const eventFlow: AlertNotice = {
    ...firing,
    ...uncounted,
    check: "event-flow",
    result: {
      ...result,
      id: "event-flow",
      observed: {
        lastEventAt: "2026-01-14T10:00:00.000Z",
        silenceSeconds: 93_600,
        checkedAssets: 0,
        usualCheckedAssets: 812,
        coverageDrop: 1,
      },
      threshold: { maxSilenceSeconds: 86_400, maxCoverageDrop: 0.5 },
      findings: [{ kind: "event-flow.silence", ref: "acme", severity: "fail", message: silenceMessage }],
    },
  };
  const undoneMessage =
    "62 of 88 deaths (70 %) of the 168 h before 2026-01-13T12:00:00.000Z were found alive since, and 9 of 12 of the last 24 h of them";
  const regret: AlertNotice = {
    ...firing,
    ...uncounted,
    check: "regret",
    result: {
      ...result,
      id: "regret",
      observed: {
        deaths: 12,
        revived: 9,
        share: 0.75,
        longDeaths: 88,
        longRevived: 62,
        longShare: 62 / 88,
        maturitySeconds: 172_800,
      },
      threshold: { warnAbove: 0.45, failAbove: 0.65, minDeaths: 20, windowSeconds: 86_400 },
      findings: [{ kind: "regret", ref: "acme", severity: "fail", message: undoneMessage }],
    },
  };
  const healthcheck: AlertNotice = {
    ...firing,
    ...uncounted,
    check: "takedowns-stuck",
    result: {
      ...result,
      id: "stuck",
      title: "Stuck takedowns",
      category: "takedowns",
      observed: { stuck: 14, oldestHours: 61, registrar: "example" },
      threshold: { failAbove: 10 },
      findings: [
        {
          kind: "stuck",
          ref: null,
          severity: "fail",
          message: "14 takedowns wait for a registrar, see https://r.example/7",
        },
        { kind: "stuck.one", ref: "takedown 7", severity: "warn", message: "waits for 61 h" },
      ],
      suggestedAction: "Call the registrar",
    },
  };
  const test: AlertNotice = {
    ...firing,
    id: "test-1",
    slug: "test",
    event: "test",
    severity: "warn",
    reason: "test",
    startsAtMs: nowMs,
    peak: null,
    labels: {},
    url: null,
    result: null,
    counts: null,
  };
  const acts = actsOn(firing, resolved, nowMs);
  return {
    sample: of([{ ...firing, sample: sampledAssets(nowMs) }], { incident: alone }),
    "fleet-sample": of([firing, warning], { fleet: { ...fleet, sample: sampledAssets(nowMs) }, incident }),
    addresses: of(alertsWithAddresses(sentinel, unknown)),
    firing: of([firing], { incident: alone }),
    escalated: of([{ ...firing, event: "escalated", previousSeverity: "warn", reason: "severity_rose" }], {
      incident: alone,
    }),
    reminder: of([{ ...firing, event: "reminder", previousSeverity: "fail", reason: "repeat_interval" }], {
      incident: alone,
    }),
    resolved: of([resolved], {
      summary: "acme: the rate is back under the threshold, lasted 11h 40m",
      incident: aloneOver,
    }),
    removed: of([{ ...resolved, reason: "organization_removed", result: null, counts: null }]),
    group: of([firing, warning, { ...resolved, id: "0196f0a2-0000-7000-8000-000000000004", slug: "initech" }], {
      incident: {
        ...incident,
        organizations: 3,
        firing: 2,
        deaths: { count: 5150, expected: 21.1 },
        own: ofThree,
        headline: { ...headline, isOneCause: false, whole: { organizations: 3, firing: 2, watched: 21 } },
      },
    }),
    unreachable: of([unknown, { ...unknown, id: "0196f0a2-0000-7000-8000-000000000005", slug: "globex" }], {
      summary: "120 organizations give no result since 2026-01-15T00:20:00Z: server_error 119, forbidden 1",
      severity: "unknown",
      incident: unanswered,
    }),
    taken: of([{ ...firing, event: "reminder" }, warning], { incident: { ...incident, acknowledgedBy: "dana" } }),
    lead: of(
      [firing, warning].map((notice) => ({ ...notice, reason: "escalation" })),
      { incident },
    ),
    fleet: of([firing, warning], {
      fleet: { ...fleet, evidence: fleetEvidence },
      incident,
      summary: "12 of 21 organizations spike at once",
    }),
    "fleet-resolved": of([resolved, { ...resolved, id: warning.id, slug: "globex", severity: "warn" }], {
      fleet: { ...fleet, spiking: 0, peakSpiking: 14, assetTypes: [] },
      incident: over,
    }),
    unknown: of([unknown]),
    recovered: of([recovered]),
    "review-queue": of([queue]),
    sentinel: of([sentinel]),
    "event-flow": of([eventFlow]),
    regret: of([regret]),
    healthcheck: of([healthcheck]),
    "foreign-keys": of([
      {
        ...firing,
        result: { ...result, observed: { recent: 5119, mode: "strict", sampled: true }, threshold: { limit: 45 } },
        counts: { currentCount: null, baselineCount: null, expectedCount: null, ratio: null },
      },
    ]),
    evidence: of([{ ...firing, onset, result: evident }]),
    "evidence-resolved": of([{ ...resolved, onset }]),
    ...Object.fromEntries(acts.map(([kind, alerts, summary]) => [kind, of(alerts, { summary })])),
    test: of([test], { summary: "test: this is a test notification" }),
  };
}
