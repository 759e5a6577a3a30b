import { minuteMs } from "../../base/time.ts";
import type { HealthcheckResult } from "../../contract/healthcheck.ts";
import { iso } from "../../contract/v1/instant.ts";
import type { AlertState } from "../../store/alerts/alerts.ts";
import type { Incident } from "../../store/alerts/incidents.ts";
import { headlineFacts } from "../headline-facts.ts";
import { summarizeIncident } from "../incident-summary.ts";
import { composeNotification } from "./compose.ts";
import type { AlertNotice, IncidentNotice, Notification } from "./notification.ts";

/** The receiver that is tried, and when. */
interface TestSubject {
  readonly receiver: string;
  readonly nowMs: number;
  readonly externalUrl: string | null;
}

/** Of an organization that does not exist: no configured one is meant. */
const notice = {
  check: "dead-asset-spike",
  slug: "test",
  kind: "verdict",
  labels: {},
  url: null,
  error: null,
  previousSeverity: "ok",
} as const satisfies Partial<AlertNotice>;

/** Returns the marked notification that `notify test` sends to one receiver; it belongs to no alert (CONTRACT 3). */
export function testNotification(subject: TestSubject & { readonly id: string }): Notification {
  const { id, nowMs: startsAtMs, externalUrl: url } = subject;
  const times = { startsAtMs, endsAtMs: null, peak: null };
  const alert = { ...notice, ...times, id: `test-${id}`, url, severity: "warn", result: null, counts: null } as const;
  const said = { event: "test", status: "firing", reason: "test" } as const;
  return composeNotification({ ...subject, fleet: null, incident: null, alerts: [{ ...alert, ...said }] });
}

const startedBeforeMs = 24 * minuteMs;
const peakCount = 120;
const usualCount = 4;

/** Returns the begin and the end of a made-up incident of one organization, as `notify test --incident` sends them (CONTRACT 3). */
export function testIncident({
  newId,
  ...subject
}: TestSubject & { readonly newId: () => string }): readonly Notification[] {
  const { nowMs } = subject;
  const id = `test-${newId()}`;
  const startsAtMs = nowMs - startedBeforeMs;
  const [began, over] = [resultOf(peakCount, nowMs), resultOf(usualCount, nowMs)];
  const common = {
    ...notice,
    id,
    severity: "fail",
    startsAtMs,
    peak: { severity: "fail", currentCount: peakCount, atMs: startsAtMs },
    incident: { id, number: 0 },
    isTest: true,
  } as const;
  const firing: AlertNotice = {
    ...common,
    ...began,
    event: "firing",
    status: "firing",
    reason: "not_ok",
    endsAtMs: null,
    sample: [{ asset: "https://login.example.com/en", assetType: "URL", deadAtMs: startsAtMs, attributes: {} }],
  };
  const resolved: AlertNotice = {
    ...common,
    ...over,
    event: "resolved",
    status: "resolved",
    previousSeverity: "fail",
    reason: "back_to_ok",
    endsAtMs: nowMs,
  };
  return [firing, resolved].map((alert) => {
    const incident = incidentOf(alert, nowMs);
    const composed = composeNotification({ ...subject, id: newId(), fleet: null, incident, alerts: [alert] });
    return { ...composed, summary: `[TEST] ${composed.summary}` };
  });
}

function resultOf(currentCount: number, nowMs: number): Pick<AlertNotice, "result" | "counts"> {
  const ratio = currentCount / usualCount;
  const counts = { currentCount, baselineCount: 7 * usualCount, expectedCount: usualCount, ratio };
  const ok = currentCount === usualCount;
  const message = `${currentCount} deaths in 24 h, ${usualCount} expected (${ratio}×)`;
  const multipliers = { warnMultiplier: 2, failMultiplier: 4 };
  const result: HealthcheckResult = {
    id: notice.check,
    title: "Spike in recently dead assets",
    category: "assets",
    generatedAt: iso(nowMs),
    scope: { slug: notice.slug },
    ok,
    severity: ok ? "ok" : "fail",
    observed: counts,
    threshold: { windowHours: 24, baselineDays: 7, ...multipliers, minSpikeCount: 10, warnAbove: 8, failAbove: 16 },
    findings: ok ? [] : [{ kind: notice.check, ref: notice.slug, severity: "fail", message }],
    suggestedAction: ok ? null : "Open a sample of the newly dead assets by hand before anything acts on these deaths.",
    appUrl: null,
  };
  return { result, counts };
}

function incidentOf({ id, startsAtMs, endsAtMs, severity, peak }: AlertNotice, nowMs: number): IncidentNotice {
  const incident: Incident = {
    id,
    number: 0,
    family: "deaths",
    startedAtMs: startsAtMs,
    firstFiredAtMs: startsAtMs,
    endedAtMs: endsAtMs,
    carrier: null,
    verdict: null,
    outlived: 0,
    secondOpinion: null,
  };
  const { check, slug, kind } = notice;
  const counted = { deaths: { count: peakCount, expected: usualCount }, carriers: [], revived: null, cause: null };
  const alert: AlertState = {
    id,
    check,
    slug,
    kind,
    state: "firing",
    severity,
    startsAtMs,
    firingAtMs: startsAtMs,
    okSinceMs: null,
    unknownRuns: 0,
    acknowledgement: null,
    reason: "not_ok",
    peak: peak ?? { severity, currentCount: null, atMs: startsAtMs },
    onset: { atMs: startsAtMs, marker: null },
    found: { ...counted, error: null },
  };
  const end = endsAtMs === null ? null : { atMs: endsAtMs, isByRun: true };
  const members = [{ alert, end, isSilenced: false, holdsGate: false }];
  const summary = summarizeIncident(incident, members, { externalUrl: null });
  const gateOf = () => ({ releaseOn: [], whenUnknown: "allow" }) as const;
  const settings = { slugs: [slug], source: "", gateOf };
  const headline = headlineFacts({ incident, summary, members }, { settings, nowMs, isGateUsed: false });
  const own = { organizations: 1, firing: summary.firing, toAcknowledge: 0, lastError: null };
  return { ...summary, worst: [], outlived: 0, headline, opened: 0, own };
}
