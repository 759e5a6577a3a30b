import type {
  AlertNotice,
  FleetNotice,
  IncidentNotice,
  Notification,
  SampledAsset,
} from "../alerting/notify/notification.ts";
import { hourMs, minuteMs } from "../base/time.ts";
import type { HealthcheckResult } from "../contract/healthcheck.ts";

const nowMs = Date.UTC(2026, 0, 15, 12);
const startsAtMs = nowMs - 11 * hourMs - 40 * minuteMs;
const beganAtMs = Date.UTC(2026, 0, 14, 21, 40);
const incidentId = "0196f0a2-0000-7000-8000-0000000000f1";
const alertId = (number: number): string => `0196f0a2-0000-7000-8000-00000000000${number}`;
const expectedCount = 78 / 7;
const countsOf = (currentCount: number) => ({
  currentCount,
  baselineCount: 78,
  expectedCount,
  ratio: currentCount / expectedCount,
});
const finding = (kind: string, ref: string | null, message: string) =>
  ({ kind, ref, severity: "fail", message }) as const;

const spike: HealthcheckResult = {
  id: "dead-asset-spike",
  title: "Spike in recently dead assets",
  category: "assets",
  generatedAt: "2026-01-15T12:00:00.000Z",
  scope: { slug: "acme" },
  ok: false,
  severity: "fail",
  observed: countsOf(5_119),
  threshold: {
    windowHours: 24,
    baselineDays: 7,
    warnMultiplier: 2,
    failMultiplier: 4,
    minSpikeCount: 10,
    warnAbove: expectedCount * 2,
    failAbove: expectedCount * 4,
  },
  findings: [
    finding("dead-asset-spike", "acme", "5,119 deaths in 24 h, 11.1 expected (459×)"),
    finding(
      "dead-asset-spike.asset-type",
      "DOMAIN",
      "4,000 deaths of type DOMAIN in 24 h, 10.0 expected (3,990 more than usual)",
    ),
    finding("dead-asset-spike.attribute", "reason=captcha_page", "85 % reason=captcha_page, usually <1 %"),
  ],
  suggestedAction: "Open a sample of the newly dead assets by hand before anything acts on these deaths.",
  appUrl: "https://app.example.com/o/acme",
};

const sample: readonly SampledAsset[] = [
  {
    asset: "https://login.acme-pay.example/en?next=/home.html",
    assetType: "URL",
    deadAtMs: nowMs - minuteMs,
    attributes: { checker: "eu-1", reason: "captcha_page" },
  },
  { asset: "support@acme-help.example", assetType: "EMAIL", deadAtMs: nowMs - minuteMs, attributes: {} },
  { asset: "acme-wallet.example", assetType: null, deadAtMs: nowMs - 2 * minuteMs, attributes: {} },
];

const marker = { text: "captcha rollout", atMs: beganAtMs - 40 * minuteMs };

const firing: AlertNotice = {
  id: alertId(1),
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
  peak: { severity: "fail", currentCount: 5_119, atMs: nowMs },
  onset: { atMs: beganAtMs, marker },
  labels: { team: "trust" },
  url: "https://app.example.com/o/acme",
  result: spike,
  counts: countsOf(5_119),
  error: null,
  incident: { id: incidentId, number: 41 },
};
const resolved: AlertNotice = {
  ...firing,
  event: "resolved",
  status: "resolved",
  previousSeverity: "fail",
  reason: "back_to_ok",
  endsAtMs: nowMs,
  result: { ...spike, ok: true, severity: "ok", observed: countsOf(7), findings: [], suggestedAction: null },
  counts: countsOf(7),
};
const unknown: AlertNotice = {
  ...firing,
  id: alertId(3),
  kind: "unknown",
  event: "unknown",
  severity: "unknown",
  reason: "unknown_after_reached",
  peak: { severity: "unknown", currentCount: null, atMs: startsAtMs },
  result: null,
  counts: null,
  error: { reason: "server_error", message: "GET https://evil.example/login: the service answered 503" },
};
/** An incident of several organizations, from one cause. */
const incident: IncidentNotice = {
  id: incidentId,
  number: 41,
  url: "https://flatline.example.com/incidents/41",
  family: "deaths",
  startedAtMs: startsAtMs,
  endedAtMs: null,
  severity: "fail",
  organizations: 12,
  firing: 12,
  deaths: { count: 131_643, expected: 120.5 },
  onsetAtMs: beganAtMs,
  excessStoppedAtMs: null,
  likelyCause: "checker",
  carriers: [{ key: "reason", value: "captcha_page", share: 0.85, usualShare: 0.005 }],
  secondOpinion: {
    asked: 20,
    alive: 14,
    gone: 5,
    verdict: "refuted",
    controls: { alive: { asked: 20, alive: 19 }, dead: { asked: 20, alive: 1 } },
    atMs: startsAtMs + 4 * minuteMs,
    look: 1,
  },
  acknowledgedBy: null,
  held: 8,
  worst: [
    { slug: "acme", excess: 5_108, count: 5_119, expected: expectedCount },
    { slug: "globex", excess: 21, count: 31, expected: 10 },
  ],
  outlived: 0,
  opened: 0,
  own: { organizations: 12, firing: 12, toAcknowledge: 12, lastError: null },
  headline: {
    number: 41,
    family: "deaths",
    startedAtMs: startsAtMs,
    endedAtMs: null,
    likelyCause: "checker",
    secondOpinion: null,
    isOneCause: true,
    beganAtMs,
    withinMs: 10 * minuteMs,
    lastedMs: nowMs - startsAtMs,
    whole: { organizations: 12, firing: 12, watched: 21 },
    part: null,
    alone: null,
    carrier: { key: "reason", value: "captcha_page", share: 0.85, usualShare: 0.005 },
    excess: { state: "ongoing", deathsLastHour: 212, usualPerHour: 5.02, quietSinceMs: null, expectedEndAtMs: null },
    foundAlive: 0,
    isSeen: true,
    judgement: null,
    judged: { checker: 0, real: 0, expected: 0 },
    judgeable: 12,
    held: 8,
    opened: 0,
    isBack: true,
    platform: null,
    hasNoEvents: false,
  },
};

const act = { by: "kim", comment: "the captcha page of https://evil.example/login", atMs: nowMs };
const judged: AlertNotice = {
  ...firing,
  event: "judged",
  reason: "judged_checker",
  previousSeverity: "fail",
  result: null,
  counts: null,
  assetsUrl: `https://flatline.example.com/api/v1/alerts/${firing.id}/assets`,
  restoreUrl: "https://flatline.example.com/api/v1/incidents/41/assets?toRestore=true",
  act,
  judgement: { ...act, verdict: "checker", note: null },
};

const fleet: FleetNotice = {
  id: incidentId,
  together: 12,
  usual: 0.02,
  probability: 1e-24,
  organizations: 21,
  spiking: 12,
  withinMs: 10 * minuteMs,
  assetTypes: [
    { assetType: "DOMAIN", count: 102_572, share: 0.78 },
    { assetType: "URL", count: 28_951, share: 0.22 },
  ],
  evidence: { beganAtMs, markers: [marker], undone: { share: 0.41, organizations: 7 } },
  sample,
};

/** Notifications with made-up numbers, of each shape that a template may meet. */
export function sampleNotifications() {
  const of = (alert: AlertNotice, given: Partial<Notification> = {}): Notification => {
    const { status, severity } = alert;
    const alerts = [alert];
    const told = { incident, fleet: null, ...given };
    const id = "0196f0a2-0000-7000-8000-00000000a000";
    const externalUrl = "https://flatline.example.com";
    const address = { receiver: "sample", recipient: null };
    return { id, ...address, status, severity, generatedAtMs: nowMs, externalUrl, alerts, ...told };
  };
  const nothing = { startsAtMs: nowMs, peak: null, labels: {}, url: null, result: null, counts: null } as const;
  const { incident: _incident, onset: _onset, ...known } = firing;
  const test = { ...known, ...nothing, id: "test-1", slug: "test", severity: "warn", reason: "test" } as const;
  return {
    firing: of({ ...firing, sample }),
    resolved: of(resolved),
    fleet: of(firing, { fleet }),
    unknown: of(unknown),
    judged: of(judged),
    test: of({ ...test, event: "test" }, { incident: null }),
  };
}
