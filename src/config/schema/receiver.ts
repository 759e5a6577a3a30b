import { z } from "zod";

import { dayMs, minuteMs } from "../../base/time.ts";
import {
  duration,
  filePath,
  longestTimeoutMs,
  nameText,
  secretFile,
  shortestIntervalMs,
  strictObject,
} from "../../base/schema/values.ts";

/** The keys that say which alerts a receiver gets or a silence holds back (CONTRACT 7). */
export const matchShape = {
  slug: z.string().min(1).optional().describe("A slug, or a pattern with `*`."),
  check: z
    .string()
    .min(1)
    .optional()
    .describe(
      "The name of a check (`dead-asset-spike`, `review-queue`, `sentinel`, `event-flow`, `regret`), or a pattern with `*`.",
    ),
  labels: z
    .record(z.string(), z.string())
    .optional()
    .describe("Labels of the organization; each value exact or a pattern with `*`."),
};

const rateLimitSchema = z
  .string()
  .superRefine((text, context) => {
    if (parseRateLimit(text) === null)
      context.addIssue('must be a number per second, minute or hour: "1/s", "30/m", "100/h"');
  })
  .meta({ pattern: "^[1-9]\\d{0,5}/[smh]$" });

/** `30/m` as a count and the milliseconds in which it may be reached; null when it is none. */
export function parseRateLimit(text: string): { readonly count: number; readonly perMs: number } | null {
  const match = /^([1-9]\d{0,5})\/([smh])$/.exec(text);
  if (match === null) return null;
  return { count: Number(match[1]), perMs: { s: 1_000, m: 60_000, h: 3_600_000 }[match[2] as "s" | "m" | "h"] };
}

const common = {
  name: nameText(128).describe("Its name, in `receivers` of organizations and as a label of metrics."),
  minSeverity: z
    .enum(["warn", "fail"])
    .default("warn")
    .describe(
      "The lowest severity of which the receiver is notified. With `fail`, it is notified of unknown alerts only if `sendUnknown` is true.",
    ),
  sendResolved: z.boolean().default(true).describe("Whether the receiver is notified when an alert resolves."),
  sendUnknown: z
    .boolean()
    .optional()
    .describe(
      "Whether the receiver is notified of checks that could not be run. The default is true with `minSeverity: warn`, else false.",
    ),
  sendActs: z
    .boolean()
    .default(false)
    .describe(
      "Whether the receiver is notified of judgements of its alerts (`judged`) and of a gate that opens (`released`). Refused for `pagerduty`, `alertmanager` and `format: alertmanager`, which cannot express them.",
    ),
  sample: z.boolean().default(true).describe("Whether it gets the names of dead assets (`alerting.sample`)."),
  match: strictObject(matchShape).optional().describe("Only alerts that match all of these; at least one key."),
  timeout: duration({ minMs: 1, maxMs: longestTimeoutMs }).default("10s").describe("Of one attempt."),
  maxAge: duration({ minMs: shortestIntervalMs, maxMs: 30 * dayMs })
    .default("24h")
    .describe("How long delivery is tried before a notification is dead-lettered."),
  rateLimit: rateLimitSchema.optional().describe("At most so many requests: `1/s`, `30/m`; absent: no limit."),
};

const urlText = z.string();
const urlShape = {
  url: urlText.optional().describe("Where it is posted to. A secret: `urlFile` reads it from a file."),
  urlFile: secretFile("the URL").optional(),
};

function receiver<Type extends string, Shape extends z.core.$ZodLooseShape>(type: Type, what: string, shape: Shape) {
  return strictObject({ type: z.literal(type).describe(what), ...common, ...shape }, ` of a receiver of type ${type}`);
}

const webhook = receiver("webhook", "A POST of JSON, signed as in Standard Webhooks.", {
  ...urlShape,
  secret: z
    .union([z.string(), z.array(z.string()).min(1).max(2)])
    .optional()
    .describe(
      "Signs each request: `whsec_` and base64 of 24 to 64 bytes, or plain text of at least 16 bytes; a list of two while rotating. `secretFile` reads it from a file.",
    ),
  secretFile: z
    .union([filePath(), z.array(filePath()).min(1).max(2)])
    .optional()
    .describe("A file that holds the secret, or a list of two; relative to the folder of this file."),
  format: z
    .enum(["flatline", "alertmanager"])
    .default("flatline")
    .describe("`alertmanager`: the body of Alertmanager's webhook, version 4."),
  template: z.string().min(1).optional().describe("A Liquid template of the body, in place of `format`."),
  contentType: z
    .string()
    .regex(/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:; ?[\w-]+=[\w".-]+)*$/, "must be a media type such as text/plain")
    .optional()
    .describe("The `content-type` of what `template` makes.")
    .meta({ default: "application/json" }),
  headers: z
    .record(z.string(), z.string())
    .optional()
    .describe("More headers of the request; their values are secrets, and `headersFile` reads them from a file."),
  headersFile: secretFile("headers, one `Name: value` a line").optional(),
});

function urlReceiver<Type extends string>(type: Type, description: string) {
  return receiver(type, description, urlShape);
}

const alertmanager = receiver("alertmanager", "Alerts for a real Alertmanager (`POST /api/v2/alerts`).", {
  url: z
    .union([urlText, z.array(urlText).min(1).max(16)])
    .optional()
    .describe(
      "The base address, `/api/v2/alerts` is appended; a list: all of them get it. A secret: `urlFile` reads it from a file.",
    ),
  urlFile: z
    .union([filePath(), z.array(filePath()).min(1).max(16)])
    .optional()
    .describe("A file that holds the URL, or a list of them; relative to the folder of this file."),
  resendInterval: duration({ minMs: shortestIntervalMs, maxMs: 60 * minuteMs })
    .default("1m")
    .describe("How often a firing alert is sent again; it ends by itself after four of these."),
});

const pagerduty = receiver("pagerduty", "PagerDuty, Events API v2.", {
  routingKey: z.string().optional().describe("The integration's key. A secret: `routingKeyFile` reads it from a file."),
  routingKeyFile: secretFile("the routing key").optional(),
  webhookSecret: z
    .string()
    .optional()
    .describe(
      "The secret of a webhook (V3) of PagerDuty to `POST /api/v1/hooks/pagerduty/NAME`: what is acknowledged there is quiet here. A secret: `webhookSecretFile` reads it from a file.",
    ),
  webhookSecretFile: secretFile("the secret of the webhook").optional(),
  url: urlText
    .optional()
    .describe("Where events are posted to. A secret: `urlFile` reads it from a file.")
    .meta({ default: "https://events.pagerduty.com/v2/enqueue" }),
  urlFile: secretFile("the URL").optional(),
});

const mailAddress = z
  .string()
  .regex(
    /^[^\p{Cc}]*[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u,
    'must be an address such as "ops@example.com" or "Ops <ops@example.com>"',
  );

const email = receiver("email", "Mail over SMTP.", {
  url: z
    .string()
    .optional()
    .describe(
      "The server, with user and password: `smtps://user:password@mail.example.com`, or `smtp://`, which is encrypted by STARTTLS or not sent, unless the host is this machine or the URL ends in `?tls=no`. A secret: `urlFile` reads it from a file.",
    ),
  urlFile: secretFile("the URL").optional(),
  from: mailAddress.describe("Who it is from."),
  to: z
    .array(mailAddress)
    .min(1)
    .max(100)
    .describe("The recipients. Each of them gets a mail of its own, which is retried and dead-lettered alone."),
});

/** One receiver (CONTRACT 7, Receiver types). */
export const receiverSchema = z
  .discriminatedUnion("type", [
    receiver("log", "A line in flatline's own log.", {}),
    webhook,
    urlReceiver("slack", "An incoming webhook of Slack."),
    urlReceiver("discord", "A webhook of Discord."),
    urlReceiver("msteams", "A webhook of a Microsoft Teams workflow."),
    alertmanager,
    pagerduty,
    email,
  ])
  .describe("Where notifications go.");
export type ReceiverInput = z.output<typeof receiverSchema>;
