import { formatCount } from "../../base/numbers.ts";

// These are not imported from base/time, because the browser uses this file, too.
const minuteMs = 60_000;
const hourMs = 3_600_000;

/** What a fleet verdict says is worked out of. */
export interface VerdictFacts {
  /** Organizations that spike now. */
  readonly spiking: number;
  /** The time within which those began. */
  readonly withinMs: number;
}

/** Returns what a fleet verdict says (CONTRACT 15): that so many began together, from one cause. */
export function verdictWords({ spiking, withinMs }: VerdictFacts): string {
  const many = `${formatCount(spiking)} ${spiking === 1 ? "organization" : "organizations"}`;
  return `${many} began within ${withinWords(withinMs)}: one cause`;
}

/** Returns from the first to the last of these instants, milliseconds. */
export function spanMs(instants: readonly number[]): number {
  return instants.length === 0 ? 0 : Math.max(...instants) - Math.min(...instants);
}

/** Returns a span in words: `10 minutes`, begun ones whole, up to 90; then hours. */
export function withinWords(ms: number): string {
  const minutes = Math.max(1, Math.ceil(ms / minuteMs));
  const [count, unit] = minutes <= 90 ? [minutes, "minute"] : [Math.ceil(ms / hourMs), "hour"];
  return `${formatCount(count)} ${unit}${count === 1 ? "" : "s"}`;
}
