import { dayMs, hourMs, minuteMs, secondMs } from "./time.ts";

/** A Prometheus duration, as a pattern for JSON Schema: units from large to small, each at most once. */
export const durationPattern = "^(?:0|(?=\\d)(?:\\d+y)?(?:\\d+w)?(?:\\d+d)?(?:\\d+h)?(?:\\d+m)?(?:\\d+s)?(?:\\d+ms)?)$";

const units = { y: 365 * dayMs, w: 7 * dayMs, d: dayMs, h: hourMs, m: minuteMs, s: secondMs, ms: 1 } as const;
const shape = new RegExp(durationPattern);
const part = /(\d+)(ms|[ywdhms])/g;

/** Returns the milliseconds of a Prometheus duration (`500ms`, `30s`, `1h30m`, `1d`, `0`); null: it is none. */
export function parseDuration(text: string): number | null {
  if (!shape.test(text)) return null;
  let totalMs = 0;
  for (const [, digits, unit] of text.matchAll(part)) totalMs += Number(digits) * units[unit as keyof typeof units];
  return Number.isSafeInteger(totalMs) ? totalMs : null;
}

/** Formats a duration in one unit, for {@link parseDuration}: 5400000 → `90m`, a day → `24h`, 0 → `0s`. */
export function formatDuration(durationMs: number): string {
  if (durationMs === 0) return "0s";
  for (const unit of ["d", "h", "m", "s"] as const) {
    // People write 24h, but 2d and 90d.
    if (durationMs % units[unit] === 0 && (unit !== "d" || durationMs > dayMs))
      return `${durationMs / units[unit]}${unit}`;
  }
  return `${durationMs}ms`;
}

/** Formats an age in its two largest units: `1d 2h`, `45s`. */
export function formatAge(ageMs: number): string {
  const all = (["d", "h", "m", "s"] as const).map((unit) => [unit, units[unit]] as const);
  const first = all.findIndex(([, unitMs]) => ageMs >= unitMs);
  if (first === -1) return "0s";
  let restMs = ageMs;
  const parts = all.slice(first, first + 2).flatMap(([unit, unitMs]) => {
    const amount = Math.floor(restMs / unitMs);
    restMs -= amount * unitMs;
    return amount === 0 ? [] : [`${amount}${unit}`];
  });
  return parts.join(" ");
}
