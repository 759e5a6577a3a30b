import type { ReceivedRequest } from "./far-side/http-sink.ts";

/** What a receiver that drops repeats by `webhook-id` got of one alert, in order of first arrival. */
export type SentAlerts = ReadonlyMap<string, readonly string[]>;

interface Payload {
  readonly id: string;
  readonly alerts: readonly { readonly id: string; readonly event: string }[];
}

/** Reads the bodies that a webhook got; throws where a repeat under one id says something else. */
export function readSentAlerts(requests: readonly ReceivedRequest[]): SentAlerts {
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
    for (const { id: alert, event } of payload.alerts) sent.set(alert, [...(sent.get(alert) ?? []), event]);
  }
  return sent;
}
