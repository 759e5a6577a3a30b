import { minuteMs } from "../../base/time.ts";
import { evaluateSpike } from "../../spike/spike.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import type { Incident } from "../../store/alerts/incidents.ts";
import type { Address } from "../../store/alerts/outbox.ts";
import { composeNotification } from "./compose.ts";
import { showerOf } from "./incident-notice.ts";
import { noticeOf, type Said } from "./notice.ts";
import type { Notification } from "./notification.ts";

interface TestSubject extends Address {
  readonly nowMs: number;
  readonly externalUrl: string | null;
}

/** No organization has this slug. */
const key = { check: "dead-asset-spike", slug: "test", kind: "verdict" } as const;

const settings = {
  slugs: [key.slug],
  source: "",
  externalUrl: null,
  gateOf: () => ({ releaseOn: [], whenUnknown: "allow" }) as const,
  targetOf: () => null,
};
const source = { settings, board: { state: () => null }, isGateUsed: false };

function sampleAlert(id: string, startsAtMs: number): Alert {
  return {
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
  };
}

/** Returns the marked notification of `notify test` (CONTRACT 3). It belongs to no alert. */
export function testNotification({
  id,
  nowMs,
  externalUrl,
  ...address
}: TestSubject & { readonly id: string }): Notification {
  const said = { event: "test", reason: "test", severity: "warn", previousSeverity: "ok" } as const;
  const notice = noticeOf(source, sampleAlert(`test-${id}`, nowMs), { ...said, peak: null, url: externalUrl });
  const common = { id, ...address, generatedAtMs: nowMs, externalUrl };
  return composeNotification({ ...common, fleet: null, shown: null, alerts: [notice] });
}

const startedBeforeMs = 24 * minuteMs;
const peakCount = 120;
const usualCount = 4;

/** Returns the begin and the end of the sample incident of `notify test --incident` (CONTRACT 3). */
export function testIncident({
  newId,
  nowMs,
  externalUrl,
  ...address
}: TestSubject & { readonly newId: () => string }): [begin: Notification, end: Notification] {
  const id = `test-${newId()}`;
  const startsAtMs = nowMs - startedBeforeMs;
  const counted = { deaths: { count: peakCount, expected: usualCount }, carriers: [], revived: null, cause: null };
  const alert: Alert = {
    ...sampleAlert(id, startsAtMs),
    onset: { atMs: startsAtMs, marker: null },
    found: { ...counted, error: null },
    incident: { id, number: 0 },
  };
  const sample = [{ asset: "https://login.example.com/en", assetType: "URL", deadAtMs: startsAtMs, attributes: {} }];
  const notificationOf = (end: Alert["end"], said: Said): Notification => {
    const currentCount = end === null ? peakCount : usualCount;
    const result = evaluateSpike({ ...key, nowMs, currentCount, baselineCount: 7 * usualCount });
    const told = { ...said, result, counts: result.observed, isTest: true } as const;
    const notice = noticeOf(source, { ...alert, end }, told);
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
    const show = showerOf(incident, [{ ...alert, end, isSilenced: false, holdsGate: false }], { ...source, nowMs });
    const shown = show(
      () => true,
      () => 1,
    );
    const common = { ...address, generatedAtMs: nowMs, externalUrl, fleet: null, shown, alerts: [notice] };
    return composeNotification({ id: newId(), ...common });
  };
  return [
    notificationOf(null, { event: "firing", reason: "not_ok", previousSeverity: "ok", sample }),
    notificationOf(
      { atMs: nowMs, isByRun: true },
      { event: "resolved", reason: "back_to_ok", previousSeverity: "fail" },
    ),
  ];
}
