import { createHmac, timingSafeEqual } from "node:crypto";

import { z } from "zod";

import { firstCharacters } from "../../base/outside-text.ts";
import { FlatlineError } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import type { Secret } from "../../base/secret.ts";

// developer.pagerduty.com, "Webhooks V3": https://developer.pagerduty.com/docs/webhooks-overview
const kinds = {
  "incident.acknowledged": "acknowledged",
  "incident.unacknowledged": "unacknowledged",
  "incident.resolved": "resolved",
} as const;

const webhookSchema = z.object({
  event: z.object({
    id: z.string().min(1).max(255),
    event_type: z.string(),
    occurred_at: z.iso.datetime({ offset: true }),
    agent: z.object({ summary: z.string().nullish() }).nullish(),
    data: z.object({ incident_key: z.string().nullish() }).nullish(),
  }),
});

const signature = /^v1=([0-9a-f]{64})$/i;
const longestName = 200;

/** Returns whether the header has a signature (V3) of the raw body; compares in constant time. */
export function isSigned(body: Uint8Array, header: string | undefined, secret: Secret): boolean {
  const expected = createHmac("sha256", secret.reveal()).update(body).digest();
  let isFound = false;
  for (const part of (header ?? "").split(",")) {
    const digest = signature.exec(part.trim())?.[1];
    if (digest !== undefined && timingSafeEqual(Buffer.from(digest, "hex"), expected)) isFound = true;
  }
  return isFound;
}

/** Reads a webhook (V3); a repetition has the same `id`. null: it changes no alert. @throws invalid_data */
export function readIncidentEvent(body: Uint8Array) {
  const read = webhookSchema.safeParse(parseJson(Buffer.from(body).toString("utf8")));
  if (!read.success)
    throw new FlatlineError("invalid_data", "not a webhook of PagerDuty, version 3", { cause: read.error });
  const { event } = read.data;
  const incidentKey = event.data?.incident_key ?? null;
  if (!Object.hasOwn(kinds, event.event_type) || incidentKey === null) return null;
  const person = firstCharacters((event.agent?.summary ?? "").trim(), longestName);
  return {
    id: event.id,
    incidentKey,
    kind: kinds[event.event_type as keyof typeof kinds],
    occurredAtMs: Date.parse(event.occurred_at),
    /** null: nobody acted, such as for a timeout. */
    person: person === "" ? null : person,
  };
}
