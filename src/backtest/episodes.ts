import type { ReplayedNotice, ReplayOutcome } from "./replay.ts";

/** The least severity of which receivers are notified. */
export const alertLevels = ["warn", "fail"] as const;
/** One of {@link alertLevels}. */
export type AlertLevel = (typeof alertLevels)[number];

/** A stretch in which an alert stood at a level or above, as receivers were notified of it. Epoch ms. */
export interface Episode {
  readonly alertId: string;
  /** Instant at which it was first sent, after `for`. */
  readonly firedAtMs: number;
  /** Instant at which it ended, or of the last run while it lasts. */
  readonly endsAtMs: number;
  readonly isOpen: boolean;
}

/** Returns the episodes of a replay at a level: at `warn` each alert that fired, at `fail` each stretch in which one stood at fail. */
export function episodesAt(
  level: AlertLevel,
  { notices, lastAtMs }: Pick<ReplayOutcome, "notices" | "lastAtMs">,
): Episode[] {
  const episodes: Episode[] = [];
  let open: { readonly alertId: string; readonly firedAtMs: number } | null = null;
  for (const notice of notices) {
    if (notice.kind !== "verdict") continue;
    const isAt = isAtLevel(level, notice);
    if (isAt && open === null) open = { alertId: notice.alertId, firedAtMs: notice.atMs };
    else if (!isAt && open !== null) {
      episodes.push({ ...open, endsAtMs: notice.atMs, isOpen: false });
      open = null;
    }
  }
  if (open !== null) episodes.push({ ...open, endsAtMs: lastAtMs ?? open.firedAtMs, isOpen: true });
  return episodes;
}

function isAtLevel(level: AlertLevel, { event, severity }: ReplayedNotice): boolean {
  if (event === "resolved") return false;
  return level === "warn" || severity === "fail";
}
