import { Webhook } from "standardwebhooks";
import { z } from "zod";

import type { Notification } from "../../alerting/notify/notification.ts";
import type { IncidentMessages } from "../../alerting/deliver/receiver.ts";
import type { KeyProblem } from "../../base/schema/values.ts";
import { asFlatlineError } from "../../base/errors.ts";
import { checkSigningSecret, optionalSecrets, secretHeaders } from "../../base/schema/secret-rules.ts";
import type { Secret } from "../../base/secret.ts";
import { bareSecrets, deliverRequest, failureOutcome, maxBodyBytes } from "../delivery.ts";
import { notificationPayload, type NotificationPayload } from "../payload.ts";
import {
  urlShape,
  type Delivering,
  type OptionsOf,
  type ReceiverDeps,
  type ReceiverKind,
  type WrittenReceiver,
} from "../kind.ts";
import type { compileTemplate } from "./template.ts";

const defaultContentType = "application/json";

const shape = {
  ...urlShape,
  secret: optionalSecrets(checkSigningSecret, 2).describe(
    "Signs each request: `whsec_` and base64 of 24 to 64 bytes, or plain text of at least 16 bytes; " +
      "a list of two while rotating.",
  ),
  template: z.string().min(1).optional().describe("A Liquid template of the body."),
  contentType: z
    .string()
    .regex(/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:; ?[\w-]+=[\w".-]+)*$/, "must be a media type such as text/plain")
    .optional()
    .describe("The `content-type` of what `template` makes.")
    .meta({ default: defaultContentType }),
  headers: secretHeaders().describe("More headers of the request; their values are secrets."),
};

export type WebhookOptions = OptionsOf<"webhook", typeof shape>;

export const webhookKind = {
  summary: "A POST of JSON, signed as in Standard Webhooks.",
  shape,
  rules: ({ template, contentType }) =>
    contentType === undefined || template !== undefined
      ? []
      : [{ key: "contentType", message: "goes with template only", part: "key" }],
  check,
  create: createWebhookReceiver,
} as const satisfies ReceiverKind;

/** Finds a template that would fail at the first alert. */
async function check({ template, contentType }: WrittenReceiver): Promise<KeyProblem[]> {
  if (typeof template !== "string") return [];
  // Loaded only for a template: most commands start without it.
  const { checkTemplate } = await import("./template.ts");
  try {
    checkTemplate(template, typeof contentType === "string" ? contentType : defaultContentType);
  } catch (error) {
    const [reason = ""] = asFlatlineError(error).message.split("\n", 1);
    return [{ key: "template", message: `cannot be used: ${reason}` }];
  }
  return [];
}

/** POSTs the payload of CONTRACT 7 or of the template. A retry has the same id, its own timestamp and signature. */
export function createWebhookReceiver(
  options: WebhookOptions,
  deps: Pick<ReceiverDeps, "dispatcher" | "messages">,
): Delivering {
  const { url } = options;
  const own = options.headers ?? {};
  const secrets = options.secret ?? [];
  const contentType = options.contentType ?? defaultContentType;
  const sign = createWebhookSigner(secrets);
  const body = bodyOf({ ...options, contentType }, deps.messages ?? null);
  const hidden = [...secrets, ...Object.values(own)].flatMap(bareSecrets);
  const ownHeaders = Object.fromEntries(
    Object.entries(own).map(([header, value]) => [header.toLowerCase(), value.reveal()]),
  );
  return {
    budget: { maxBytes: maxBodyBytes, bytesOf: (notification) => bytesOf(notificationPayload(notification)) },
    deliver: async (notification, context) => {
      let text: string;
      try {
        text = await body(notification);
      } catch (error) {
        // Only a template fails, and it would fail again.
        return failureOutcome(error, hidden);
      }
      const headers = {
        ...ownHeaders,
        "content-type": contentType,
        ...sign({ id: notification.id, atMs: context.nowMs, body: text }),
      };
      const request = { url, headers, body: text, secrets: hidden };
      return deliverRequest(deps.dispatcher, request, context);
    },
  };
}

/** Returns the size of a template's input; the size of its output is known when it is sent. */
function bytesOf({ alerts, ...rest }: NotificationPayload): number {
  // One by one: the text of all could be longer than a string may be.
  const bytes = alerts.reduce((sum, alert) => sum + Buffer.byteLength(JSON.stringify(alert)) + 1, 1);
  return bytes + Buffer.byteLength(JSON.stringify({ ...rest, alerts: "" })) - '""'.length;
}

function bodyOf(
  { template, contentType }: { readonly template: string | null; readonly contentType: string },
  messages: IncidentMessages | null,
): (notification: Notification) => Promise<string> {
  if (template === null) return async (notification) => JSON.stringify(notificationPayload(notification));
  // The template compiled when the configuration was read. Liquid is loaded on first use.
  let compiled: Promise<ReturnType<typeof compileTemplate>> | null = null;
  return async (notification) => {
    compiled ??= import("./template.ts").then((liquid) => liquid.compileTemplate(template, contentType));
    // Few templates use all firing alerts of an incident.
    const firing = /\bstillFiring\b/.test(template) ? await messages?.firingOf(notification) : undefined;
    return (await compiled)(notification, firing);
  };
}

/** Returns a signer for Standard Webhooks headers, with a signature per secret; without a secret there is none. */
export function createWebhookSigner(secrets: readonly Secret[]) {
  const signers = secrets.map((secret) => new Webhook(keyOf(secret.reveal()), { format: "raw" }));
  return ({ id, atMs, body }: { readonly id: string; readonly atMs: number; readonly body: string }) => {
    const signatures = signers.map((signer) => signer.sign(id, new Date(atMs), body));
    return {
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(atMs / 1_000)),
      ...(signatures.length === 0 ? {} : { "webhook-signature": signatures.join(" ") }),
    };
  };
}

/** `secret` has passed checkSigningSecret. */
function keyOf(secret: string): Uint8Array {
  return secret.startsWith("whsec_") ? Buffer.from(secret.slice("whsec_".length), "base64") : Buffer.from(secret);
}
