import { cutText } from "../../base/cut-text.ts";
import type { HttpDispatcher } from "../../base/http-dispatcher.ts";
import { checkKey, optionalSecret, secret } from "../../base/schema/secret-rules.ts";
import { checkHttpUrl } from "../../base/schema/values.ts";
import { Secret } from "../../base/secret.ts";
import type { AlertNotice, FleetNotice, IncidentNotice, Notification } from "../../alerting/notify/notification.ts";
import type { DeliveryOutcome, Receiver } from "../../alerting/deliver/receiver.ts";
import type { Severity } from "../../contract/severity.ts";
import { deliverRequest } from "../delivery.ts";
import { fitMessage, type Fact, type Message } from "../wording/message.ts";
import { iso } from "../../contract/v1/instant.ts";
import type { ReceiverInput, ReceiverKind } from "../kind.ts";
import { plainText } from "../wording/text.ts";
import { countFacts } from "../wording/notice-facts.ts";
import { httpLinks, isTest, latestNotices, messageOf, noticeLinks, noticeSection } from "../wording/wording.ts";

// developer.pagerduty.com, Events API v2: summary 1,024 characters, dedup_key 255, an event 512 KB.
const limits = { summary: 1_024, dedupKey: 255, eventBytes: 500_000 };

const severities: Readonly<Record<Severity, string>> = {
  fail: "critical",
  unknown: "error",
  warn: "warning",
  ok: "info",
};

/** PagerDuty's Events API v2. */
export interface PagerdutyOptions {
  readonly type: "pagerduty";
  readonly name: string;
  readonly url: Secret;
  readonly routingKey: Secret;
  /** Signs the webhooks by which PagerDuty reports acts on incidents; null: there are none. */
  readonly webhookSecret: Secret | null;
}

const defaultUrl = "https://events.pagerduty.com/v2/enqueue";

const shape = {
  routingKey: secret(checkKey).describe("The integration's key. A secret."),
  webhookSecret: optionalSecret(checkKey).describe(
    "The secret of a webhook (V3) of PagerDuty to `POST /api/v1/hooks/pagerduty/NAME`. A secret.",
  ),
  url: optionalSecret(checkHttpUrl).describe("Where events are posted to. A secret.").meta({ default: defaultUrl }),
};

export const pagerdutyKind = {
  summary: "PagerDuty, Events API v2.",
  shape,
  takesAcknowledgements: true,
  isWithoutActs: true,
  resolve: ({ name, url, routingKey, webhookSecret }: ReceiverInput<typeof shape>): PagerdutyOptions => ({
    type: "pagerduty",
    name,
    url: url ?? new Secret(defaultUrl),
    routingKey,
    webhookSecret: webhookSecret ?? null,
  }),
  describe: ({ url, routingKey, webhookSecret }: PagerdutyOptions) => ({ url, routingKey, webhookSecret }),
  create: createPagerdutyReceiver,
} as const satisfies ReceiverKind;

/** One event of the Events API v2, without its routing key. */
export interface PagerdutyEvent {
  readonly event_action: "trigger" | "acknowledge" | "resolve";
  readonly dedup_key: string;
  readonly client?: "flatline";
  readonly client_url?: string;
  readonly links?: readonly { readonly href: string; readonly text: string }[];
  readonly payload?: {
    readonly summary: string;
    readonly source: string;
    readonly severity: string;
    readonly timestamp: string;
    readonly component: string;
    readonly class: string;
    readonly custom_details: Readonly<Record<string, unknown>>;
  };
}

/** Triggers, acknowledges and resolves in PagerDuty; the incident's id is the dedup_key. */
export function createPagerdutyReceiver(
  options: Omit<PagerdutyOptions, "webhookSecret">,
  deps: { readonly dispatcher: HttpDispatcher },
): Receiver {
  const { name, type, url, routingKey } = options;
  const headers = { "content-type": "application/json", "user-agent": "flatline" };
  return {
    name,
    type,
    deliver: async (notification, context) => {
      let outcome: DeliveryOutcome = { kind: "accepted", detail: "nothing to send" };
      // In order, and all of them again when one was not accepted: an event may be repeated.
      for (const event of pagerdutyEvents(notification)) {
        const body = JSON.stringify({ routing_key: routingKey.reveal(), ...event });
        outcome = await deliverRequest(deps.dispatcher, { url, headers, body, secrets: [routingKey] }, context);
        if (outcome.kind !== "accepted") break;
      }
      return outcome;
    },
  };
}

/** Returns the events of a notification: of one incident there is one at PagerDuty (CONTRACT 13); what is of none is one an alert. */
export function pagerdutyEvents(notification: Notification): PagerdutyEvent[] {
  const { incident, status } = notification;
  const notices = latestNotices(notification.alerts);
  if (incident === null) return notices.map((notice) => noticeEvent(notice, notification));
  const { id, outlived } = incident;
  // An acknowledgement at PagerDuty stays: when it has ended here, another incident needs another one.
  const key = keyOf(id, outlived);
  if (notices.every(({ event }) => event === "acknowledged")) return [eventOf("acknowledge", key)];
  // All of them: this receiver may have been sent nothing between two that ended.
  const before = Array.from({ length: outlived }, (_, ended) => eventOf("resolve", keyOf(id, ended)));
  if (status === "resolved") return [...before, eventOf("resolve", key)];
  const [only] = notices;
  const isOne =
    only !== undefined && new Set(notices.map(({ slug }) => slug)).size === 1 && notification.fleet === null;
  return [...before, isOne ? noticeEvent(only, notification, key) : incidentEvent(notification, incident, key)];
}

function keyOf(id: string, outlived: number): string {
  return outlived === 0 ? id : `${id}.${outlived}`;
}

function noticeEvent(notice: AlertNotice, notification: Notification, key = notice.id): PagerdutyEvent {
  if (notification.incident === null && notice.status === "resolved") return eventOf("resolve", key);
  const section = {
    ...noticeSection(notice, notification.generatedAtMs, notification.externalUrl),
    links: noticeLinks(notice, notification.externalUrl),
  };
  const message: Message = {
    ...messageOf(notification),
    title: section.title,
    sections: [section],
    lines: [],
    links: [],
  };
  return trigger(notification, message, {
    dedupKey: key,
    source: plainText(notice.slug),
    severity: isTest(notice) ? "info" : severities[notice.severity],
    startsAtMs: notice.startsAtMs,
    check: notice.check,
    group: notice.kind === "unknown" ? "unknown" : "verdict",
    details: {
      ...factMap(countFacts(notice)),
      event: notice.event,
      reason: notice.reason,
      labels: notice.labels,
    },
  });
}

function incidentEvent(notification: Notification, incident: IncidentNotice, dedupKey: string): PagerdutyEvent {
  const { fleet } = notification;
  return trigger(notification, messageOf(notification), {
    dedupKey,
    source: "flatline",
    severity: severities[notification.severity],
    startsAtMs: incident.startedAtMs,
    check: notification.alerts[0]?.check ?? "dead-asset-spike",
    group: fleet === null ? incident.family : "fleet",
    details: { incident: incident.number, fleet: fleet === null ? null : totalsOf(fleet) },
  });
}

interface TriggerFacts {
  readonly dedupKey: string;
  readonly source: string;
  readonly severity: string;
  readonly startsAtMs: number;
  readonly check: string;
  readonly group: string;
  readonly details: Readonly<Record<string, unknown>>;
}

function trigger({ externalUrl }: Notification, message: Message, facts: TriggerFacts): PagerdutyEvent {
  const clientUrl = httpLinks([{ label: "flatline", url: externalUrl }])[0]?.url;
  const render = (trimmed: Message): PagerdutyEvent => {
    const [section] = trimmed.sections;
    return {
      event_action: "trigger",
      dedup_key: cutText(facts.dedupKey, limits.dedupKey),
      client: "flatline",
      ...(clientUrl === undefined ? {} : { client_url: clientUrl }),
      links: [...(section?.links ?? []), ...trimmed.links].map(({ label, url }) => ({ href: url, text: label })),
      payload: {
        summary: cutText(trimmed.title, limits.summary),
        source: cutText(facts.source, limits.dedupKey) || "flatline",
        severity: facts.severity,
        timestamp: iso(facts.startsAtMs),
        component: facts.check,
        class: facts.group,
        custom_details: {
          description: [section?.sentence ?? trimmed.intro ?? "", section?.details ?? ""].join(" ").trim(),
          ...factMap(section?.facts ?? trimmed.facts),
          carriers: section?.carriers ?? trimmed.lines,
          ...sampleDetail(section?.sample ?? trimmed.sample),
          suggested_action: section?.action ?? null,
          ...facts.details,
        },
      },
    };
  };
  return fitMessage(message, render, (event) => Buffer.byteLength(JSON.stringify(event)) <= limits.eventBytes);
}

function sampleDetail(sample: readonly string[]): { readonly sample?: readonly string[] } {
  return sample.length === 0 ? {} : { sample };
}

/** Returns the totals without the sampled assets, which are sent beside them with broken addresses. */
function totalsOf({ sample: _sample, ...totals }: FleetNotice): Omit<FleetNotice, "sample"> {
  return totals;
}

function factMap(facts: readonly Fact[]): Record<string, string> {
  return Object.fromEntries(facts.map(({ name, value }) => [name, value]));
}

function eventOf(action: "acknowledge" | "resolve", key: string): PagerdutyEvent {
  return { event_action: action, dedup_key: cutText(key, limits.dedupKey) };
}
