import { minuteMs } from "../../base/time.ts";
import type { HealthcheckResult } from "../../contract/healthcheck.ts";
import { iso } from "../../contract/v1/instant.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import type { Incident } from "../../store/alerts/incidents.ts";
import type { Address } from "../../store/alerts/outbox.ts";
import { headlineFacts } from "../headline-facts.ts";
import { summarizeIncident } from "../incident-summary.ts";
import { composeNotification } from "./compose.ts";
import { noticeOf } from "./notice.ts";
import type { AlertNotice, Notification } from "./notification.ts";

/** The receiver that is tried, and when. */
interface TestSubject extends Address {
  readonly nowMs: number;
  readonly externalUrl: string | null;
}

/** Of an organization that does not exist: no configured one is meant. */
const key = { check: "dead-asset-spike", slug: "test", kind: "verdict" } as const;

/** Returns the marked notification that `notify test` sends to one receiver; it belongs to no alert (CONTRACT 3). */
export function testNotification({
  id,
  nowMs,
  externalUrl,
  ...address
}: TestSubject & { readonly id: string }): Notification {
  const notice: AlertNotice = {
    ...key,
    id: `test-${id}`,
    event: "test",
    status: "firing",
    severity: "warn",
    previousSeverity: "ok",
    reason: "test",
    startsAtMs: nowMs,
    endsAtMs: null,
    peak: null,
    labels: {},
    url: externalUrl,
    result: null,
    counts: null,
    error: null,
  };
  const common = { id, ...address, generatedAtMs: nowMs, externalUrl };
  return composeNotification({ ...common, fleet: null, shown: null, alerts: [notice] });
}

const startedBeforeMs = 24 * minuteMs;
const peakCount = 120;
const usualCount = 4;
const settings = {
  slugs: [key.slug],
  source: "",
  externalUrl: null,
  gateOf: () => ({ releaseOn: [], whenUnknown: "allow" }) as const,
  targetOf: () => null,
};

/** Returns the begin and the end of a made-up incident of one organization, as `notify test --incident` sends them (CONTRACT 3). */
export function testIncident({
  newId,
  nowMs,
  externalUrl,
  ...address
}: TestSubject & { readonly newId: () => string }): readonly Notification[] {
  const id = `test-${newId()}`;
  const startsAtMs = nowMs - startedBeforeMs;
  const counted = { deaths: { count: peakCount, expected: usualCount }, carriers: [], revived: null, cause: null };
  const alert: Alert = {
    ...key,
    id,
    state: "firing",
    severity: "fail",
    startsAtMs,
    firingAtMs: startsAtMs,
    okSinceMs: null,
    unknownRuns: 0,
    acknowledgement: null,
    reason: "not_ok",
    end: null,
    peak: { severity: "fail", currentCount: peakCount, atMs: startsAtMs },
    onset: { atMs: startsAtMs, marker: null },
    found: { ...counted, error: null },
    incident: { id, number: 0 },
  };
  const sample = [{ asset: "https://login.example.com/en", assetType: "URL", deadAtMs: startsAtMs, attributes: {} }];
  return [
    { end: null, event: "firing", reason: "not_ok", previousSeverity: "ok", sample } as const,
    { end: { atMs: nowMs, isByRun: true }, event: "resolved", reason: "back_to_ok", previousSeverity: "fail" } as const,
  ].map(({ end, ...said }) => {
    const count = end === null ? peakCount : usualCount;
    const told = { ...said, ...resultOf(count, nowMs), isTest: true } as const;
    const notice = noticeOf({ settings, board: { state: () => null } }, { ...alert, end }, told);
    const incident: Incident = {
      id,
      number: 0,
      family: "deaths",
      startedAtMs: startsAtMs,
      firstFiredAtMs: startsAtMs,
      endedAtMs: notice.endsAtMs,
      carrier: null,
      verdict: null,
      outlived: 0,
      secondOpinion: null,
    };
    const members = [{ ...alert, end, isSilenced: false, holdsGate: false }];
    const summary = summarizeIncident(incident, members, settings);
    const headline = headlineFacts({ incident, summary, members }, { settings, nowMs, isGateUsed: false });
    const own = { organizations: 1, firing: summary.firing, toAcknowledge: 0, lastError: null };
    return composeNotification({
      id: newId(),
      ...address,
      generatedAtMs: nowMs,
      externalUrl,
      fleet: null,
      shown: { ...notice, incident: { ...summary, worst: [], outlived: 0, headline, own } },
      alerts: [notice],
    });
  });
}

function resultOf(currentCount: number, nowMs: number): Pick<AlertNotice, "result" | "counts"> {
  const ratio = currentCount / usualCount;
  const counts = { currentCount, baselineCount: 7 * usualCount, expectedCount: usualCount, ratio };
  const ok = currentCount === usualCount;
  const message = `${currentCount} deaths in 24 h, ${usualCount} expected (${ratio}×)`;
  const multipliers = { warnMultiplier: 2, failMultiplier: 4 };
  const result: HealthcheckResult = {
    id: key.check,
    title: "Spike in recently dead assets",
    category: "assets",
    generatedAt: iso(nowMs),
    scope: { slug: key.slug },
    ok,
    severity: ok ? "ok" : "fail",
    observed: counts,
    threshold: { windowHours: 24, baselineDays: 7, ...multipliers, minSpikeCount: 10, warnAbove: 8, failAbove: 16 },
    findings: ok ? [] : [{ kind: key.check, ref: key.slug, severity: "fail", message }],
    suggestedAction: ok ? null : "Open a sample of the newly dead assets by hand before anything acts on these deaths.",
    appUrl: null,
  };
  return { result, counts };
}
