import type { Secret } from "../base/secret.ts";

/** Sends Standard Webhooks, flatline's own payload, Alertmanager's, or a body of the operator's making. */
export interface WebhookOptions {
  readonly type: "webhook";
  readonly name: string;
  readonly url: Secret;
  /** One, or two while rotating; none: not signed. `whsec_` + base64, or plain text whose UTF-8 bytes are the key. */
  readonly secrets: readonly Secret[];
  readonly format: "flatline" | "alertmanager";
  /** Liquid, the body; wins over `format`. */
  readonly template: string | null;
  readonly contentType: string;
  /** Sent as they are, but for the names that the delivery itself needs. */
  readonly headers: Readonly<Record<string, Secret>>;
}

/** A chat's incoming webhook. */
export interface ChatOptions {
  readonly type: "slack" | "discord" | "msteams";
  readonly name: string;
  readonly url: Secret;
}

/** Prometheus Alertmanagers, all of which get everything. */
export interface AlertmanagerOptions {
  readonly type: "alertmanager";
  readonly name: string;
  /** Base addresses: /api/v2/alerts is appended. */
  readonly urls: readonly Secret[];
  readonly resendIntervalMs: number;
}

/** PagerDuty's Events API v2. */
export interface PagerdutyOptions {
  readonly type: "pagerduty";
  readonly name: string;
  readonly url: Secret;
  readonly routingKey: Secret;
}

/** SMTP. */
export interface EmailOptions {
  readonly type: "email";
  readonly name: string;
  readonly from: string;
  /** All of them are named in the mail; each is sent it in a delivery of its own. */
  readonly recipients: readonly string[];
  /** smtp:// or smtps://, credentials included. */
  readonly url: Secret;
}

/** The log of the daemon itself. */
export interface LogOptions {
  readonly type: "log";
  readonly name: string;
}

/** What makes a receiver; structurally a part of the configuration's receivers (CONTRACT 4 and 7). */
export type ReceiverOptions =
  WebhookOptions | ChatOptions | AlertmanagerOptions | PagerdutyOptions | EmailOptions | LogOptions;
