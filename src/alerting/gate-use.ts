import { dayMs } from "../base/time.ts";
import type { StoreParts } from "../store/store-parts.ts";
import type { AlertingSettings } from "./settings.ts";

const askedAtKey = "gate_asked_at_ms";
const rememberedMs = 30 * dayMs;

export function noteGateAsked({ meta }: Pick<StoreParts, "meta">, nowMs: number): Promise<void> {
  return meta.set(askedAtKey, String(nowMs));
}

/**
 * Returns whether somebody uses gates: `gate` is configured, or a gate was asked for in the last 30 days. If not,
 * messages do not mention what is on hold (CONTRACT 15).
 */
export async function isGateUsed(
  { meta }: Pick<StoreParts, "meta">,
  { isGateConfigured }: Pick<AlertingSettings, "isGateConfigured">,
  nowMs: number,
): Promise<boolean> {
  if (isGateConfigured) return true;
  const askedAtMs = await meta.get(askedAtKey);
  return askedAtMs !== null && nowMs - Number(askedAtMs) < rememberedMs;
}
