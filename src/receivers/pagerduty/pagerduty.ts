import { cutText, plainText } from "../../base/outside-text.ts";
import type { HttpDispatcher } from "../../base/http-dispatcher.ts";
import { checkKey, optionalSecret, secret } from "../../base/schema/secret-rules.ts";
import { checkHttpUrl } from "../../base/schema/values.ts";
import { Secret } from "../../base/secret.ts";
import type { AlertNotice, Notification } from "../../alerting/notify/notification.ts";
import type { DeliveryOutcome } from "../../alerting/deliver/receiver.ts";
import type { Severity } from "../../contract/severity.ts";
import { deliverRequest } from "../delivery.ts";
import { fitMessage, type FittedMessage } from "../fit.ts";
import { iso } from "../../contract/v1/instant.ts";
import type { Delivering, OptionsOf, ReceiverKind } from "../kind.ts";
import { isTest } from "../../words/alert.ts";
import { httpLinks, latestNotices, messageOf } from "../../words/message.ts";

// developer.pagerduty.com, Events API v2: summary 1,024 characters, dedup_key 255. An event of 512 KB is never reached:
// a message has some kilobytes at full length.
const limits = { summary: 1_024, dedupKey: 255 };

const severities: Readonly<Record<Severity, string>> = {
  fail: "critical",
  unknown: "error",
  warn: "warning",
  ok: "info",
};

const defaultUrl = new Secret("https://events.pagerduty.com/v2/enqueue");

const shape = {
  routingKey: secret(checkKey).describe("The integration's key. A secret."),
  webhookSecret: optionalSecret(checkKey).describe(
    "The secret of a webhook (V3) of PagerDuty to `POST /api/v1/hooks/pagerduty/NAME`. A secret.",
  ),
  url: optionalSecret(checkHttpUrl)
    .describe("Where events are posted to. A secret.")
    .meta({ default: defaultUrl.reveal() }),
};

export const pagerdutyKind = {
  summary: "PagerDuty, Events API v2.",
  shape,
  takesAcknowledgements: true,
  isWithoutActs: true,
  create: createPagerdutyReceiver,
} as const satisfies ReceiverKind;

/** An event of the Events API v2, without its routing key. */
export type PagerdutyEvent = ReturnType<typeof eventOf> & Partial<Pick<ReturnType<typeof triggerOf>, "payload">>;

/** Triggers, acknowledges and resolves in PagerDuty; the incident's id is the dedup_key. */
export function createPagerdutyReceiver(
  { routingKey, url }: Omit<OptionsOf<"pagerduty", typeof shape>, "webhookSecret">,
  deps: { readonly dispatcher: HttpDispatcher },
): Delivering {
  return {
    deliver: async (notification, context) => {
      let outcome: DeliveryOutcome = { kind: "accepted", detail: "nothing to send" };
      // The order matters; a retry sends all of them again, because an event may be repeated.
      for (const event of pagerdutyEvents(notification)) {
        const body = JSON.stringify({ routing_key: routingKey.reveal(), ...event });
        const request = { url: url ?? defaultUrl, body, secrets: [routingKey] };
        outcome = await deliverRequest(deps.dispatcher, request, context);
        if (outcome.kind !== "accepted") break;
      }
      return outcome;
    },
  };
}

/** Returns the events of a notification: one incident here is one at PagerDuty (CONTRACT 13). */
export function pagerdutyEvents(notification: Notification): PagerdutyEvent[] {
  const { incident, status } = notification;
  const notices = latestNotices(notification.alerts);
  const [notice] = notices;
  if (notice === undefined) return [];
  // PagerDuty keeps an acknowledgement: when it has ended here, the next trigger needs another key.
  const { id, outlived } = incident ?? { id: notice.id, outlived: 0 };
  const key = keyOf(id, outlived);
  if (notices.every(({ event }) => event === "acknowledged")) return [eventOf("acknowledge", key)];
  // Resolves all earlier keys: this receiver may have got no notification in between.
  const before = Array.from({ length: outlived }, (_, ended) => eventOf("resolve", keyOf(id, ended)));
  if (status === "resolved") return [...before, eventOf("resolve", key)];
  const render = (message: FittedMessage) => triggerOf(key, message, notification, notice);
  return [...before, fitMessage(messageOf(notification), render)];
}

function keyOf(id: string, outlived: number): string {
  return outlived === 0 ? id : `${id}.${outlived}`;
}

function eventOf(action: "trigger" | "acknowledge" | "resolve", key: string) {
  return { event_action: action, dedup_key: cutText(key, limits.dedupKey) };
}

/** `notice`: the worst alert. */
function triggerOf(
  key: string,
  { title, text, links, facts, lists }: FittedMessage,
  { fleet, incident, externalUrl, severity, alerts }: Notification,
  notice: AlertNotice,
) {
  const [page] = httpLinks([{ label: "flatline", url: externalUrl }]);
  const isOne = fleet === null && alerts.every(({ slug }) => slug === notice.slug);
  return {
    ...eventOf("trigger", key),
    client: "flatline",
    // The button opens the incident, if there is one.
    client_url: (links[0] ?? page)?.url,
    links: links.map(({ label, url }) => ({ href: url, text: label })),
    payload: {
      summary: cutText(title, limits.summary),
      source: (isOne && cutText(plainText(notice.slug), limits.dedupKey)) || "flatline",
      severity: isTest(notice) ? "info" : severities[severity],
      timestamp: iso(incident?.startedAtMs ?? notice.startsAtMs),
      component: notice.check,
      class: fleet === null ? (incident?.family ?? "test") : "fleet",
      custom_details: {
        description: text,
        ...Object.fromEntries(facts.map((fact) => [fact.label, fact.text])),
        ...Object.fromEntries(lists.map(({ heading = "Organizations", items }) => [heading, items])),
        incident: incident?.number ?? null,
        ...(isOne ? { event: notice.event, reason: notice.reason } : {}),
      },
    },
  };
}
