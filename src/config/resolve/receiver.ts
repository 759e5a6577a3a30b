import { Secret } from "../../base/secret.ts";
import type { Matcher } from "../../contract/silence.ts";
import type { ReceiverConfig } from "../config.ts";
import { parseDuration } from "../../base/durations.ts";
import { parseRateLimit, type ReceiverInput } from "../schema/receiver.ts";
import type { SecretBook } from "./secrets.ts";
import { defaultContentType } from "../check/template.ts";

const pagerdutyUrl = "https://events.pagerduty.com/v2/enqueue";

/** One receiver with its secrets in place. */
export function resolveReceiver(receiver: ReceiverInput, index: number, secrets: SecretBook): ReceiverConfig {
  const path = ["receivers", index];
  const all = (key: string): readonly Secret[] => secrets.of(path, key);
  // Presence was checked before: an absent one would have been a problem.
  const one = (key: string): Secret => all(key)[0] ?? new Secret("");
  const base = {
    name: receiver.name,
    minSeverity: receiver.minSeverity,
    sendResolved: receiver.sendResolved,
    sendUnknown: receiver.sendUnknown ?? receiver.minSeverity === "warn",
    sendActs: receiver.sendActs,
    sample: receiver.sample,
    match: receiver.match === undefined ? null : matcherOf(receiver.match),
    timeoutMs: parseDuration(receiver.timeout) ?? 0,
    maxAgeMs: parseDuration(receiver.maxAge) ?? 0,
    rateLimit: receiver.rateLimit === undefined ? null : parseRateLimit(receiver.rateLimit),
  };
  switch (receiver.type) {
    case "log":
      break;
    case "slack":
    case "discord":
    case "msteams":
      return { ...base, type: receiver.type, url: one("url") };
    case "webhook":
      return {
        ...base,
        type: "webhook",
        url: one("url"),
        secrets: all("secret"),
        format: receiver.format,
        template: receiver.template ?? null,
        contentType: receiver.contentType ?? defaultContentType,
        headers: secrets.headersOf(path),
      };
    case "alertmanager":
      return {
        ...base,
        type: "alertmanager",
        urls: all("url"),
        resendIntervalMs: parseDuration(receiver.resendInterval) ?? 0,
      };
    case "email":
      return { ...base, type: "email", url: one("url"), from: receiver.from, recipients: [...new Set(receiver.to)] };
    case "pagerduty":
      return {
        ...base,
        type: "pagerduty",
        url: all("url")[0] ?? new Secret(pagerdutyUrl),
        routingKey: one("routingKey"),
        webhookSecret: all("webhookSecret")[0] ?? null,
      };
  }
  return { ...base, type: receiver.type };
}

/** The keys of a match or silence that are there. */
export function matcherOf(match: {
  readonly slug?: string | undefined;
  readonly check?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}): Matcher {
  return {
    ...(match.slug === undefined ? {} : { slug: match.slug }),
    ...(match.check === undefined ? {} : { check: match.check }),
    ...(match.labels === undefined ? {} : { labels: match.labels }),
  };
}
