import type { Dispatcher } from "undici";

import { Secret } from "../../base/secret.ts";
import type { DeliveryOutcome, Receiver } from "../../alerting/deliver/receiver.ts";
import { labelledAlerts } from "./alerts.ts";
import { alertmanagerAlertsBody } from "./body.ts";
import { checkAddress, combineOutcomes, deliverRequest, listBytes, maxBodyBytes } from "../delivery.ts";
import type { AlertmanagerOptions } from "../receiver-options.ts";

// CONTRACT 7: four missed repeats, then Alertmanager takes the alert for over. As Prometheus does it.
const resendsUntilForgotten = 4;

// Long enough for an answer that went wrong once or twice. A pair of Alertmanagers is there for one that is down for longer:
// what the other one has to be told next, a resolved above all, must not wait for it.
const wholePatienceMs = 5_000;

/**
 * Posts to /api/v2/alerts of every address. All are to accept; some seconds later it is enough that one did, as with Prometheus.
 * Alertmanager forgets what is not repeated: the alerts that fire are to be delivered again every `resendIntervalMs`, which is
 * how one that was down learns of them, and what it holds for longer than that ends by itself.
 * @throws FlatlineError invalid_config for an address that can't be
 */
export function createAlertmanagerReceiver(
  options: AlertmanagerOptions,
  deps: { readonly dispatcher: Dispatcher },
): Receiver {
  const { name, type, resendIntervalMs } = options;
  for (const url of options.urls) checkAddress(name, url);
  const urls = options.urls.map(alertsAddress);
  return {
    name,
    type,
    resendIntervalMs,
    budget: {
      maxBytes: maxBodyBytes,
      bytesOf: (notification) => {
        const { generatedAtMs } = notification;
        return listBytes(alertmanagerAlertsBody(labelledAlerts(notification, generatedAtMs), generatedAtMs));
      },
    },
    deliver: async (notification, context) => {
      const alerts = labelledAlerts(notification, context.nowMs);
      // A fleet's resend can be empty for a receiver; an empty list would be refused as no alerts at all.
      if (alerts.length === 0) return { kind: "accepted", detail: "nothing to send" };
      const activeUntilMs = context.nowMs + resendsUntilForgotten * resendIntervalMs;
      const bodies = bodiesOf(alertmanagerAlertsBody(alerts, activeUntilMs));
      const headers = { "content-type": "application/json", "user-agent": "flatline" };
      const sendAll = async (url: Secret): Promise<DeliveryOutcome> => {
        const outcomes: DeliveryOutcome[] = [];
        for (const body of bodies)
          outcomes.push(await deliverRequest(deps.dispatcher, { url, headers, body }, context));
        return combineOutcomes(outcomes);
      };
      const outcomes = await Promise.all(urls.map(sendAll));
      const combined = combineOutcomes(outcomes);
      const acceptedCount = outcomes.filter(({ kind }) => kind === "accepted").length;
      const ageMs = context.nowMs - notification.generatedAtMs;
      if (combined.kind !== "retry" || acceptedCount === 0 || (ageMs >= 0 && ageMs < wholePatienceMs)) return combined;
      return { kind: "accepted", detail: `${acceptedCount} of ${outcomes.length} accepted; ${combined.error}` };
    },
  };
}

/** What is sent again is one notification, however much fires: in any number of requests it says the same to Alertmanager. */
function bodiesOf(alerts: readonly object[]): string[] {
  const bodies: string[] = [];
  let texts: string[] = [];
  let bytes = 1;
  for (const text of alerts.map((alert) => JSON.stringify(alert))) {
    const more = Buffer.byteLength(text) + 1;
    if (bytes + more > maxBodyBytes && texts.length > 0) {
      bodies.push(`[${texts.join(",")}]`);
      texts = [];
      bytes = 1;
    }
    texts.push(text);
    bytes += more;
  }
  return [...bodies, `[${texts.join(",")}]`];
}

function alertsAddress(base: Secret): Secret {
  const url = new URL(base.reveal());
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/api/v2/alerts`;
  return new Secret(url.href);
}
