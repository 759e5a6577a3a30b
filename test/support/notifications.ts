import type { AlertNotice, FleetNotice, IncidentNotice, Notification } from "../../src/alerting/notify/notification.ts";
import type { Finding, HealthcheckResult } from "../../src/contract/healthcheck.ts";
import { sampleNotifications } from "../../src/receivers/sample-notifications.ts";

import { hourMs, minuteMs } from "../../src/base/time.ts";

const samples = sampleNotifications();
const { generatedAtMs: nowMs } = samples.firing;
const startsAtMs = nowMs - 11 * hourMs - 40 * minuteMs;
const beganAtMs = Date.UTC(2026, 0, 14, 21, 40);

function part<Part>(given: Part | null | undefined): Part {
  if (given === null || given === undefined) throw new Error("a sample has not all of its parts");
  return given;
}

const finding = (kind: string, ref: string | null, message: string): Finding => ({
  kind,
  ref,
  severity: "fail",
  message,
});

const { isTest: _isTest, ...made } = part(samples.firing.alerts[0]);
const { evidence, sample: _assets, ...fleetOver } = { ...part(samples.fleet.fleet), spiking: 0, assetTypes: [] };
const marker = { text: "captcha rollout", atMs: beganAtMs - 40 * minuteMs };
const spike = {
  ...part(made.result),
  scope: { slug: "acme" },
  findings: [
    finding("dead-asset-spike", "acme", "120 deaths in 24 h, 4.0 expected (30.0×)"),
    finding(
      "dead-asset-spike.asset-type",
      "DOMAIN",
      "100 deaths of type DOMAIN in 24 h, 2.0 expected (98 more than usual)",
    ),
    finding("dead-asset-spike.attribute", "reason=captcha_page", "85 % reason=captcha_page, usually <1 %"),
  ],
  appUrl: "https://app.example.com/o/acme",
};
const assets = [
  ...part(made.sample),
  { asset: "support@acme-help.example", assetType: "EMAIL", deadAtMs: nowMs, attributes: {} },
  { asset: "acme-wallet.example", assetType: null, deadAtMs: nowMs, attributes: { checker: "eu-1" } },
];
const { sample: _sample, ...firing }: AlertNotice = {
  ...made,
  id: "0196f0a2-0000-7000-8000-000000000001",
  slug: "acme",
  startsAtMs,
  onset: { atMs: beganAtMs, marker },
  peak: { severity: "fail", currentCount: 120, atMs: startsAtMs },
  labels: { team: "trust" },
  url: spike.appUrl,
  result: spike,
  incident: { id: "0196f0a2-0000-7000-8000-0000000000f1", number: 41 },
};
const resolved: AlertNotice = {
  ...firing,
  event: "resolved",
  status: "resolved",
  previousSeverity: "fail",
  reason: "back_to_ok",
  endsAtMs: nowMs,
  result: { ...spike, ok: true, severity: "ok", findings: [], suggestedAction: null },
};
const { kind, event, severity, reason, error } = part(samples.unknown.alerts[0]);
const { onset: _onset, ...began } = firing;
const unknown: AlertNotice = {
  ...began,
  kind,
  event,
  severity,
  reason,
  error,
  id: `${firing.id}3`,
  result: null,
  counts: null,
  peak: { severity: "unknown", currentCount: null, atMs: startsAtMs },
};
const act = { by: "kim", comment: "the captcha page of https://evil.example/login", atMs: nowMs };
const judged: AlertNotice = {
  ...firing,
  event: "judged",
  previousSeverity: "fail",
  reason: "judged_checker",
  result: null,
  counts: null,
  assetsUrl: `https://flatline.example.com/api/v1/alerts/${firing.id}/assets`,
  restoreUrl: "https://flatline.example.com/api/v1/incidents/41/assets?toRestore=true",
  act,
  judgement: { ...act, verdict: "checker", note: null },
};
const fleet: FleetNotice = {
  ...part(samples.fleet.fleet),
  evidence: { ...part(evidence), beganAtMs, markers: [marker] },
  sample: assets,
};
const { likelyCause, carriers, secondOpinion } = part(samples.fleet.incident);
const counted = part(samples.firing.incident);
const incident: IncidentNotice = {
  ...counted,
  number: 41,
  url: "https://flatline.example.com/incidents/41",
  startedAtMs: startsAtMs,
  onsetAtMs: beganAtMs,
  likelyCause,
  carriers,
  secondOpinion,
  worst: [
    { slug: "acme", excess: 116, count: 120, expected: 4 },
    { slug: "globex", excess: 21, count: 31, expected: 10 },
  ],
  headline: {
    ...counted.headline,
    startedAtMs: startsAtMs,
    likelyCause,
    carrier: part(carriers[0]),
    beganAtMs,
    withinMs: 10 * minuteMs,
    lastedMs: nowMs - beganAtMs,
    stoppedAtMs: null,
    isSeen: true,
    excess: { state: "ongoing", deathsLastHour: 20, usualPerHour: 4 / 24, quietSinceMs: null, expectedEndAtMs: null },
    part: null,
    isBack: true,
  },
};

const warning: AlertNotice = {
  ...firing,
  id: `${firing.id}2`,
  slug: "globex",
  severity: "warn",
  peak: { severity: "warn", currentCount: 31, atMs: nowMs },
  labels: {},
  url: "https://app.example.com/o/globex",
  result: { ...spike, severity: "warn", scope: { slug: "globex" }, findings: [], appUrl: null },
  counts: { currentCount: 31, baselineCount: 70, expectedCount: 10, ratio: 3.1 },
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

const platform: NonNullable<IncidentNotice["headline"]["platform"]> = {
  host: "security.example.com",
  status: 503,
  isSilent: false,
  unwatched: 12,
  onHold: 0,
  checks: ["dead-asset-spike"],
};

/** The deaths of incidents with so many organizations, and how many of these are on hold: globex only warns. */
const sizes: Readonly<Record<number, { readonly count: number; readonly expected: number; readonly held: number }>> = {
  1: { count: 120, expected: 4, held: 1 },
  3: { count: 271, expected: 18, held: 2 },
  12: { count: 371, expected: 64, held: 8 },
};

/** The incident with so many organizations, of which so many fire, and other facts of its headline. */
function incidentOf(
  organizations: number,
  count: number,
  facts: Partial<IncidentNotice["headline"]> = {},
): IncidentNotice {
  const { family = "deaths", isOneCause = organizations > 3 } = facts;
  const endedAtMs = count === 0 ? nowMs : null;
  const counts = { organizations, firing: count };
  const isDeaths = family === "deaths";
  const { held: holding, ...deaths } = part(sizes[organizations]);
  const held = isDeaths ? holding : 0;
  const secondOpinion = isDeaths && isOneCause ? incident.secondOpinion : null;
  const { check, slug } = firing;
  const one = { slug, check, windowHours: 24, deaths: { currentCount: 120, expectedCount: 4 } };
  return {
    ...incident,
    ...counts,
    deaths,
    ...(isDeaths ? {} : { deaths: null, onsetAtMs: null, carriers: [], worst: [] }),
    family,
    endedAtMs,
    secondOpinion,
    held,
    own: {
      ...counts,
      toAcknowledge: count,
      lastError: family === "unreachable" && count > 0 ? "the service answered 503" : null,
    },
    headline: {
      ...incident.headline,
      endedAtMs,
      secondOpinion,
      isOneCause,
      excess: { ...part(incident.headline.excess), usualPerHour: deaths.expected / 24 },
      whole: { ...counts, watched: 21 },
      alone: organizations === 1 ? one : null,
      judgeable: organizations,
      held,
      ...(isDeaths ? {} : { excess: null, carrier: null, platform: family === "unreachable" ? platform : null }),
      ...facts,
    },
  };
}

/** The alert of another check that counts no deaths. */
function checkNotice(check: string, given: Partial<HealthcheckResult>): AlertNotice {
  const result = { ...spike, id: check, threshold: {}, ...given };
  return { ...began, check, result, counts: null, peak: { severity: "fail", currentCount: null, atMs: nowMs } };
}

const sentinel = checkNotice("sentinel", {
  observed: { sentinels: 3, dead: 1, unseen: 0 },
  findings: [
    finding("sentinel", "acme", "1 of 3 assets that are known to be alive is called dead"),
    finding("sentinel.asset", "login.acme.example", "login.acme.example is known to be alive and was called dead"),
  ],
});
const stuck = checkNotice("takedowns-stuck", {
  observed: { stuck: 14, oldestHours: 61, registrar: "example" },
  findings: [
    finding("stuck", null, "14 takedowns wait for a registrar, see https://evil.example/a?b=c.d"),
    finding("stuck.one", "takedown 7", "waits for 61 h"),
  ],
  suggestedAction: "See https://app.example.com/o/acme, not ftp://files.evil.example/x.",
});

/** Notifications of the samples as incidents of one, few and many organizations have them, and of other checks. */
export function notifications() {
  const of = (
    alerts: readonly AlertNotice[],
    incident: IncidentNotice,
    fleet: FleetNotice | null = null,
  ): Notification => {
    const status = alerts.some((alert) => alert.status === "firing") ? "firing" : "resolved";
    const severity = part(alerts[0]).severity;
    return { ...samples.test, status, severity, fleet, incident, alerts };
  };
  const [one, oneOver, manyOver] = [incidentOf(1, 1), incidentOf(1, 0), incidentOf(12, 0)];
  const deaths = { currentCount: null, expectedCount: null };
  const real: AlertNotice = {
    ...resolved,
    ...judged,
    status: "resolved",
    endsAtMs: nowMs,
    reason: "judged_real",
    judgement: { ...part(judged.judgement), verdict: "real" },
  };
  const opened: AlertNotice = { ...real, event: "released", reason: "released_by_judgement" };
  return {
    firing: of([{ ...firing, sample: assets }], one),
    escalated: of([{ ...firing, event: "escalated", previousSeverity: "warn", reason: "severity_rose" }], one),
    resolved: of([resolved], oneOver),
    group: of([firing, warning, { ...resolved, id: `${firing.id}4`, slug: "initech" }], incidentOf(3, 2)),
    fleet: of([firing, warning], incidentOf(12, 12), fleet),
    "fleet-resolved": of(
      [resolved, { ...resolved, id: warning.id, slug: "globex", severity: "warn" }],
      manyOver,
      fleetOver,
    ),
    unknown: of([unknown], incidentOf(1, 1, { family: "unreachable", platform: { ...platform, unwatched: 1 } })),
    recovered: of([recovered], incidentOf(1, 0, { family: "unreachable" })),
    sentinel: of([sentinel], incidentOf(1, 1, { alone: { slug: "acme", check: "sentinel", windowHours: 24, deaths } })),
    healthcheck: of([stuck], incidentOf(1, 1, { family: "takedowns-stuck" })),
    judged: of([judged], one),
    "judged-released": of([real, opened], oneOver),
    test: samples.test,
  };
}

/** A notification of {@link notifications} by its name. */
export function sample(kind: string): Notification {
  const all: Readonly<Record<string, Notification>> = notifications();
  const found = all[kind];
  if (found === undefined) throw new Error(`no sample ${kind}`);
  return found;
}

/** The first notice of one of {@link notifications}. */
export function noticeOf(kind: string): AlertNotice {
  return part(sample(kind).alerts[0]);
}
