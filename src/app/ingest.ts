import type { Config } from "../config/config.ts";
import type { AppMetrics } from "../metrics/app-metrics.ts";
import type { EventsPort } from "../web/ports.ts";
import type { PartsDeps } from "./parts.ts";

/** Takes posted events; null until the store can. */
export function openIngest(
  _config: Config,
  _deps: PartsDeps,
  _metrics: AppMetrics,
): (EventsPort & { close(): Promise<void> }) | null {
  return null;
}
