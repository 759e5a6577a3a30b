import type { Dispatcher } from "undici";

import type { Notification } from "../../alerting/notify/notification.ts";
import type { Receiver } from "../../alerting/deliver/receiver.ts";
import { alertmanagerWebhookBody } from "../alertmanager/body.ts";
import { bareSecrets, checkAddress, deliverRequest, failureOutcome, listBytes, maxBodyBytes } from "../delivery.ts";
import { notificationPayload } from "../payload.ts";
import type { WebhookOptions } from "../receiver-options.ts";
import { createWebhookSigner } from "./signature.ts";
import type { CompiledTemplate } from "./template.ts";

/**
 * POSTs the payload of CONTRACT 7, Alertmanager's version 4, or the operator's template, with the headers of Standard
 * Webhooks: a retry has the same id, its own timestamp and signature.
 * @throws FlatlineError invalid_config for an address or secret that can't be
 */
export function createWebhookReceiver(options: WebhookOptions, deps: { readonly dispatcher: Dispatcher }): Receiver {
  const { name, type, url, secrets } = options;
  checkAddress(name, url);
  const signer = createWebhookSigner(name, secrets);
  const jsonOf = options.format === "alertmanager" ? alertmanagerWebhookBody : notificationPayload;
  const body = bodyOf(options, jsonOf);
  const hidden = [...secrets, ...Object.values(options.headers)].flatMap(bareSecrets);
  const ownHeaders = Object.fromEntries(
    Object.entries(options.headers).map(([header, value]) => [header.toLowerCase(), value.reveal()]),
  );
  return {
    name,
    type,
    budget: { maxBytes: maxBodyBytes, bytesOf: (notification) => bytesOf(jsonOf(notification)) },
    deliver: async (notification, context) => {
      let text: string;
      try {
        text = await body(notification);
      } catch (error) {
        // Only a template fails: the same notification would fail again.
        return failureOutcome(error, hidden);
      }
      const headers = {
        "user-agent": "flatline",
        ...ownHeaders,
        "content-type": options.contentType,
        ...signer.headers({ id: notification.id, atMs: context.nowMs, body: text }),
      };
      const request = { url, headers, body: text, secrets: hidden };
      return deliverRequest(deps.dispatcher, request, context);
    },
  };
}

type JsonBody = (notification: Notification) => { readonly alerts: readonly unknown[] };

/** Of a template what it is given counts: what it makes of it is known when it is sent. */
function bytesOf({ alerts, ...rest }: ReturnType<JsonBody>): number {
  return listBytes(alerts) + Buffer.byteLength(JSON.stringify({ ...rest, alerts: "" })) - '""'.length;
}

function bodyOf(
  { template, contentType }: WebhookOptions,
  jsonOf: JsonBody,
): (notification: Notification) => Promise<string> {
  if (template !== null) {
    // It compiled when the configuration was read. Liquid is loaded by those who send with it only.
    let compiled: Promise<CompiledTemplate> | null = null;
    return async (notification) => {
      compiled ??= import("./template.ts").then(({ compileTemplate }) => compileTemplate(template, contentType));
      return (await compiled).render(notification);
    };
  }
  return async (notification) => JSON.stringify(jsonOf(notification));
}
