import { dayMs, hourMs, minuteMs } from "../../src/base/time.ts";
import type { LivenessEvent } from "../../src/store/events/rules.ts";
import { death } from "./store/event-store.ts";

/** A spike of a minute ago: `dead` URLs after a quiet week, beside assets that are alive and long dead. */
export function nightOfDeaths(
  slug: string,
  nowMs: number,
  { dead, alive = [], longDead = [] }: Readonly<Partial<Record<"dead" | "alive" | "longDead", readonly string[]>>>,
): LivenessEvent[] {
  const event = (asset: string | null, atMs: number, status = "DETECTED_AS_DEAD"): LivenessEvent =>
    death(atMs, slug, { assetType: "URL", asset, status });
  return [
    ...Array.from({ length: 7 }, (_, day) => event(null, nowMs - (day + 1) * dayMs - hourMs)),
    ...longDead.map((asset) => event(asset, nowMs - 15 * dayMs)),
    ...alive.map((asset) => event(asset, nowMs - 2 * hourMs, "DETECTED_AS_ALIVE")),
    ...(dead ?? []).map((asset) => event(asset, nowMs - minuteMs)),
  ];
}

/** So many URLs of hosts whose names begin so. */
export function urlsOf(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `https://${prefix}${index}.example/`);
}
