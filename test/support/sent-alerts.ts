import type { ReceivedRequest } from "./far-side/http-sink.ts";

/** What a receiver that drops repeats by `webhook-id` got of each alert or organization, in order of first arrival. */
type SentAlerts = ReadonlyMap<string, readonly string[]>;

interface Payload {
  readonly id: string;
  readonly alerts: readonly { readonly id: string; readonly slug: string; readonly event: string }[];
}

/** Reads the bodies that a webhook got; throws where a repeat under one id says something else. */
export function readSentAlerts(requests: readonly ReceivedRequest[], by: "id" | "slug" = "id"): SentAlerts {
  const bodies = new Map<string, string>();
  const sent = new Map<string, string[]>();
  for (const { headers, body } of requests) {
    const id = String(headers["webhook-id"]);
    const known = bodies.get(id);
    if (known !== undefined && known !== body) throw new Error(`two bodies under ${id}`);
    if (known !== undefined) continue;
    bodies.set(id, body);
    const payload = JSON.parse(body) as Payload;
    if (payload.id !== id) throw new Error(`${payload.id} under ${id}`);
    for (const { [by]: key, event } of payload.alerts) sent.set(key, [...(sent.get(key) ?? []), event]);
  }
  return sent;
}
