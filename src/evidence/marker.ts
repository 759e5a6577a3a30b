import { dayMs, minuteMs } from "../base/time.ts";

/** A marker of people that may explain an onset. */
export interface OnsetMarker {
  readonly text: string;
  readonly atMs: number;
}

/** The longest time from a marker to an onset that it may explain, milliseconds. */
export const markerReachMs = dayMs;

/** An onset is the start of its minute: a marker within that minute may have come first, too. */
export const onsetMinuteMs = minuteMs - 1;

/** Returns the last marker before the onset's minute was over, within reach; null: none. They may have any order. */
export function markerBefore<Marker extends OnsetMarker>(markers: readonly Marker[], onsetAtMs: number): Marker | null {
  const near = markers.filter(({ atMs }) => atMs <= onsetAtMs + onsetMinuteMs && onsetAtMs - atMs <= markerReachMs);
  return near.reduce<Marker | null>((last, one) => (last === null || one.atMs > last.atMs ? one : last), null);
}
