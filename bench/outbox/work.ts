import { Agent } from "undici";

import type { Notification } from "../../src/alerting/notify/notification.ts";
import type { Receiver } from "../../src/alerting/deliver/receiver.ts";
import { testNotification } from "../../src/alerting/notify/test-notification.ts";
import { Secret } from "../../src/base/secret.ts";
import { createSystemClock } from "../../src/base/time.ts";
import { createWebhookReceiver } from "../../src/receivers/webhook/webhook.ts";

/** What both sides of the benchmark are asked: argument of their processes, as JSON. */
export interface OutboxWork {
  /** Where to send. */
  readonly url: string;
  readonly notifications: number;
  /** flatline: the store's folder. graphile-worker: the database. */
  readonly target: string;
}

/** Deliveries at once on both sides: eight receivers with four places each. */
export const receivers = Array.from({ length: 8 }, (_, index) => `receiver-${index}`);
export const deliveriesAtOnce = 32;
/** How many are put into the queue in one transaction, or by one statement. */
export const enqueuedAtOnce = 100;

export const clock = createSystemClock();

/** The work of this process. */
export function readWork(): OutboxWork {
  return JSON.parse(process.argv[2] ?? "{}") as OutboxWork;
}

/** flatline's own webhook, signed: the same HTTP call on both sides. */
export function createWebhook(name: string, url: string): Receiver {
  const dispatcher = new Agent({ connections: 128 });
  const secrets = [new Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")];
  const shape = { format: "flatline", template: null, contentType: "application/json", headers: {} } as const;
  return createWebhookReceiver({ type: "webhook", name, url: new Secret(url), secrets, ...shape }, { dispatcher });
}

/** One of many, each about an alert of its own. */
export function notificationOf(index: number): Notification {
  const receiver = receivers[index % receivers.length] ?? "";
  return testNotification({ id: `notification-${index}`, receiver, nowMs: clock.nowMs(), externalUrl: null });
}

/** Says how long it took; the parent reads one line. */
export function sayDone(startedAtMs: number): void {
  process.stdout.write(`${JSON.stringify({ seconds: (clock.monotonicMs() - startedAtMs) / 1_000 })}\n`);
}
