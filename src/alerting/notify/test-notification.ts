import { composeNotification } from "./compose.ts";
import type { Notification } from "./notification.ts";

/** Returns the marked notification that `notify test` sends to one receiver; it belongs to no alert (CONTRACT 3). */
export function testNotification(options: {
  readonly id: string;
  readonly receiver: string;
  readonly nowMs: number;
  readonly externalUrl: string | null;
}): Notification {
  const { id, nowMs } = options;
  return composeNotification({
    ...options,
    fleet: null,
    incident: null,
    alerts: [
      {
        id: `test-${id}`,
        check: "dead-asset-spike",
        slug: "test",
        kind: "verdict",
        event: "test",
        status: "firing",
        severity: "warn",
        previousSeverity: "ok",
        reason: "test",
        startsAtMs: nowMs,
        endsAtMs: null,
        peak: null,
        labels: {},
        url: options.externalUrl,
        result: null,
        counts: null,
        error: null,
        isDrill: false,
      },
    ],
  });
}
