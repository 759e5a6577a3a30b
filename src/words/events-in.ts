import { formatCount } from "../base/numbers.ts";
import { countOf, durationText } from "./numbers.ts";

// What the page and `status` say of events that come in.

export interface ImportUnderWay {
  readonly name: string;
  readonly rows: number;
  readonly received: number;
  readonly organizations: number;
  readonly renewedAtMs: number;
  readonly isRunning: boolean;
}

/** Posts of events that are refused, while that goes on. */
export interface RefusedPosts {
  readonly posts: number;
  readonly sinceMs: number;
  readonly lastAtMs: number;
  /** What is wrong with a row of the last one. */
  readonly example: string;
}

export function importText({ name, rows, received, ...its }: ImportUnderWay, nowMs: number): string {
  const share = `${formatCount(received)} of ${countOf(rows, "row")}`;
  return its.isRunning
    ? `${name} is being imported, ${share}: ${countOf(its.organizations, "organization")} ${its.organizations === 1 ? "is" : "are"} not checked for spikes meanwhile.`
    : `The import of ${name} stopped ${durationText(nowMs - its.renewedAtMs)} ago at ${share}: run it again to complete it.`;
}

export function refusedText({ posts, sinceMs, lastAtMs, example }: RefusedPosts, nowMs: number): string {
  return `${countOf(posts, "post")} of events ${posts === 1 ? "was" : "were"} refused within ${durationText(nowMs - sinceMs)}, the last ${durationText(nowMs - lastAtMs)} ago: ${example}.`;
}
