import type { FleetNotice, IncidentNotice } from "../alerting/notify/notification.ts";

export const startsAtMs = Date.UTC(2026, 0, 15, 0, 20);
export const nowMs = Date.UTC(2026, 0, 15, 12);

export const incidentId = "0196f0a2-0000-7000-8000-0000000000f1";
export const fleet: FleetNotice = {
  id: incidentId,
  together: 12,
  usual: 0.02,
  probability: 1e-24,
  organizations: 21,
  spiking: 12,
  withinMs: 10 * 60_000,
  assetTypes: [
    { assetType: "DOMAIN", count: 102_572, share: 0.78 },
    { assetType: "URL", count: 28_951, share: 0.22 },
  ],
};

export const headline: IncidentNotice["headline"] = {
  number: 41,
  family: "deaths",
  startedAtMs: startsAtMs,
  endedAtMs: null,
  likelyCause: "checker",
  secondOpinion: null,
  isOneCause: true,
  beganAtMs: Date.UTC(2026, 0, 14, 21, 40),
  withinMs: 10 * 60_000,
  lastedMs: 24 * 60_000,
  whole: { organizations: 12, firing: 12, watched: 21 },
  part: null,
  alone: null,
  carrier: { key: "reason", value: "captcha_page", share: 0.85, usualShare: 0.005 },
  excess: {
    state: "ongoing",
    deathsLastHour: 212,
    usualPerHour: 5.02,
    quietSinceMs: null,
    expectedEndAtMs: null,
  },
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
};

export const incident: IncidentNotice = {
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
  onsetAtMs: Date.UTC(2026, 0, 14, 21, 40),
  excessStoppedAtMs: null,
  likelyCause: "checker",
  carriers: [{ key: "reason", value: "captcha_page", share: 0.85, usualShare: 0.005 }],
  secondOpinion: {
    asked: 20,
    alive: 14,
    gone: 5,
    verdict: "refuted",
    controls: { alive: { asked: 20, alive: 19 }, dead: { asked: 20, alive: 1 } },
    atMs: startsAtMs + 4 * 60_000,
    look: 1,
  },
  acknowledgedBy: null,
  held: 8,
  worst: [
    { slug: "acme", excess: 5108, count: 5119, expected: 78 / 7 },
    { slug: "globex", excess: 21, count: 31, expected: 10 },
  ],
  outlived: 0,
  opened: 0,
  headline,
  own: { organizations: 12, firing: 12, toAcknowledge: 12, lastError: null },
};
export const ofThree = { ...incident.own, organizations: 3, firing: 2, toAcknowledge: 2 };
const ended = { ...incident.own, organizations: 14, firing: 0 };
export const over: IncidentNotice = {
  ...incident,
  endedAtMs: nowMs,
  firing: 0,
  organizations: 14,
  own: ended,
  headline: { ...headline, endedAtMs: nowMs, whole: { organizations: 14, firing: 0, watched: 21 } },
};
/** Of acme alone, while it fires and when it is over. */
export const alone: IncidentNotice = {
  ...incident,
  organizations: 1,
  firing: 1,
  deaths: { count: 5119, expected: 78 / 7 },
  held: 1,
  secondOpinion: null,
  own: { ...incident.own, organizations: 1, firing: 1, toAcknowledge: 1 },
  headline: {
    ...headline,
    isOneCause: false,
    lastedMs: nowMs - startsAtMs,
    whole: { organizations: 1, firing: 1, watched: 21 },
    alone: {
      slug: "acme",
      check: "dead-asset-spike",
      windowHours: 24,
      deaths: { currentCount: 5119, expectedCount: 78 / 7 },
    },
    judgeable: 1,
    held: 1,
  },
};
export const aloneOver: IncidentNotice = {
  ...alone,
  endedAtMs: nowMs,
  firing: 0,
  headline: { ...alone.headline, endedAtMs: nowMs },
};
const noDeaths = { deaths: null, carriers: [], worst: [], held: 0 };
export const unanswered: IncidentNotice = {
  ...incident,
  ...noDeaths,
  family: "unreachable",
  severity: "unknown",
  own: { ...incident.own, lastError: "HTTP 503" },
  headline: {
    ...headline,
    family: "unreachable",
    excess: null,
    isOneCause: false,
    carrier: null,
    held: 0,
    platform: {
      host: "security.example.com",
      status: 503,
      isSilent: false,
      unwatched: 12,
      onHold: 0,
      checks: ["dead-asset-spike"],
    },
  },
};
