import type { ReplayedNotice } from "./replay.ts";

/** A stretch in which an alert fired, as receivers were notified of it. Epoch ms. */
export interface Episode {
  readonly alertId: string;
  /** Instant at which it was first sent, after `for`. */
  readonly firedAtMs: number;
  /** Instant at which it ended, or of the last run while it lasts. */
  readonly endsAtMs: number;
  readonly isOpen: boolean;
}

/** Returns the episodes of a replay. */
export function episodesOf({
  notices,
  lastAtMs,
}: {
  readonly notices: readonly ReplayedNotice[];
  readonly lastAtMs: number | null;
}): Episode[] {
  const episodes: Episode[] = [];
  for (const { alertId, kind, event, atMs } of notices) {
    const open = episodes.at(-1);
    if (kind !== "verdict") continue;
    if (open?.alertId !== alertId)
      episodes.push({ alertId, firedAtMs: atMs, endsAtMs: lastAtMs ?? atMs, isOpen: true });
    else if (event === "resolved") episodes.splice(-1, 1, { ...open, endsAtMs: atMs, isOpen: false });
  }
  return episodes;
}
