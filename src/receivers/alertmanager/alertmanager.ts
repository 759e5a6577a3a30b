import type { HttpDispatcher } from "../../base/http-dispatcher.ts";
import { secrets } from "../../base/schema/secret-rules.ts";
import { builtIn } from "../../base/schema/section.ts";
import { checkHttpUrl, duration, shortestIntervalMs } from "../../base/schema/values.ts";
import { Secret } from "../../base/secret.ts";
import { minuteMs } from "../../base/time.ts";
import type { DeliveryOutcome } from "../../alerting/deliver/receiver.ts";
import { alertmanagerAlertsBody } from "./alerts.ts";
import { combineOutcomes, deliverRequest, maxBodyBytes } from "../delivery.ts";
import type { Delivering, OptionsOf, ReceiverKind } from "../kind.ts";

const shape = {
  url: secrets(checkHttpUrl, 16).describe(
    "The base address, `/api/v2/alerts` is appended; a list: all of them get it. A secret.",
  ),
  resendInterval: builtIn(duration(shortestIntervalMs, 60 * minuteMs), "1m").describe(
    "How often a firing alert is sent again; it ends by itself after four of these.",
  ),
};

export const alertmanagerKind = {
  summary: "Alerts for a real Alertmanager (`POST /api/v2/alerts`).",
  shape,
  checkLabel: checkLabelName,
  isWithoutActs: true,
  create: createAlertmanagerReceiver,
} as const satisfies ReceiverKind;

const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const ownLabels = ["alertname", "check", "slug", "severity", "incident"];

function checkLabelName(name: string): string | null {
  if (ownLabels.includes(name)) return "this label is flatline's own in what an alertmanager receiver sends";
  if (labelName.test(name) && !name.startsWith("__")) return null;
  return "is no valid label name for an alertmanager receiver: letters, digits and _ only";
}

// CONTRACT 7: Alertmanager resolves an alert after four missed repeats, as with Prometheus.
const resendsUntilForgotten = 4;

// Enough for one or two failed answers. A longer outage is covered by another address: the next notifications, a
// resolved above all, must not wait.
const wholePatienceMs = 5_000;

/** Posts to every address, and again every `resendIntervalMs`: Alertmanager forgets what is not repeated. */
export function createAlertmanagerReceiver(
  { url, resendIntervalMs }: OptionsOf<"alertmanager", typeof shape>,
  deps: { readonly dispatcher: HttpDispatcher },
): Delivering {
  const urls = url.map(alertsAddress);
  return {
    resendIntervalMs,
    // Each alert is shown whole: a large group is split, not shortened.
    budget: {
      maxBytes: maxBodyBytes,
      bytesOf: (notification) => {
        const { generatedAtMs } = notification;
        return Buffer.byteLength(JSON.stringify(alertmanagerAlertsBody(notification, generatedAtMs, generatedAtMs)));
      },
    },
    deliver: async (notification, context) => {
      const activeUntilMs = context.nowMs + resendsUntilForgotten * resendIntervalMs;
      const alerts = alertmanagerAlertsBody(notification, context.nowMs, activeUntilMs);
      // A fleet's resend can be empty for a receiver; Alertmanager refuses an empty list.
      if (alerts.length === 0) return { kind: "accepted", detail: "nothing to send" };
      const bodies = bodiesOf(alerts);
      const sendAll = async (url: Secret): Promise<DeliveryOutcome> => {
        const outcomes: DeliveryOutcome[] = [];
        for (const body of bodies) outcomes.push(await deliverRequest(deps.dispatcher, { url, body }, context));
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

/** Splits the alerts into requests: Alertmanager does not care how many. */
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
