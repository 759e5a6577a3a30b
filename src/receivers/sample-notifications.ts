import { testIncident, testNotification } from "../alerting/notify/test-notification.ts";
import type { AlertNotice, FleetNotice, IncidentNotice, Notification } from "../alerting/notify/notification.ts";
import { minuteMs } from "../base/time.ts";

const nowMs = Date.UTC(2026, 0, 15, 12);
const address = { receiver: "sample", recipient: null, nowMs, externalUrl: "https://flatline.example.com" };
const fleet: FleetNotice = {
  id: "test",
  together: 12,
  usual: 0.02,
  probability: 1e-24,
  organizations: 21,
  spiking: 12,
  withinMs: 10 * minuteMs,
  assetTypes: [{ assetType: "URL", count: 94, share: 0.78 }],
  evidence: {
    beganAtMs: nowMs,
    markers: [{ text: "captcha rollout", atMs: nowMs }],
    undone: { share: 0.41, organizations: 7 },
  },
};
const found: Pick<IncidentNotice, "likelyCause" | "carriers" | "secondOpinion"> = {
  likelyCause: "checker",
  carriers: [{ key: "reason", value: "captcha_page", share: 0.85, usualShare: 0.005 }],
  secondOpinion: {
    asked: 20,
    alive: 14,
    gone: 5,
    verdict: "refuted",
    controls: { alive: { asked: 20, alive: 19 }, dead: { asked: 20, alive: 1 } },
    atMs: nowMs,
    look: 1,
  },
};
const act = { by: "kim", comment: "ten opened by hand", atMs: nowMs };

/** Notifications with made-up numbers, in each shape that a template may meet. */
export function sampleNotifications() {
  const [firing, resolved] = testIncident({ ...address, newId: () => "sample" });
  const withAlert = (given: Partial<AlertNotice>): Notification => ({
    ...firing,
    alerts: firing.alerts.map((alert) => ({ ...alert, ...given })),
  });
  return {
    firing,
    resolved,
    fleet: {
      ...withAlert({ labels: { team: "trust" } }),
      fleet: { ...fleet, sample: firing.alerts.flatMap(({ sample = [] }) => sample) },
      incident: firing.incident && { ...firing.incident, ...found },
    },
    unknown: withAlert({
      kind: "unknown",
      event: "unknown",
      severity: "unknown",
      reason: "unknown_after_reached",
      result: null,
      counts: null,
      error: { reason: "server_error", message: "GET https://evil.example/login: the service answered 503" },
    }),
    judged: withAlert({
      event: "judged",
      reason: "judged_checker",
      result: null,
      counts: null,
      act,
      judgement: { ...act, verdict: "checker", note: null },
    }),
    test: testNotification({ ...address, id: "sample" }),
  };
}
