import { Secret } from "../../base/secret.ts";
import type { Matcher } from "../../contract/silence.ts";
import { receiverKind, type ReceiverOptions } from "../../receivers/receivers.ts";
import type { ReceiverConfig } from "../config.ts";
import { parseDuration } from "../../base/durations.ts";
import { parseRateLimit, type ReceiverInput } from "../schema/receiver.ts";
import type { SecretBook } from "./secrets.ts";

/** One receiver with its secrets in place. */
export function resolveReceiver(receiver: ReceiverInput, index: number, secrets: SecretBook): ReceiverConfig {
  const path = ["receivers", index];
  const all = (key: string): readonly Secret[] => secrets.of(path, key);
  const options = receiverKind(receiver.type).resolve(receiver, {
    all,
    // Presence was checked before: an absent one would have been a problem.
    one: (key) => all(key)[0] ?? new Secret(""),
    headers: () => secrets.headersOf(path),
  });
  return {
    ...(options as ReceiverOptions),
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
}

/** Returns the keys of a match or silence that are there. */
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
