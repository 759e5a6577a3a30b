import { excerpt } from "../base/outside-text.ts";
import { formatCount } from "../base/numbers.ts";
import type { DiscoverySource } from "../contract/listed-organization.ts";
import { iso } from "../contract/v1/instant.ts";
import { countOf, durationText } from "./numbers.ts";

// How the page and the commands describe what comes in: events, and lists of organizations.

export interface ReadEvents {
  readonly events: number;
  readonly organizations: number;
  /** null: not shown. */
  readonly deaths: number | null;
  /** null: no events. */
  readonly firstAtMs: number | null;
  readonly lastAtMs: number | null;
}

/** The first line of an import and of a replay. */
export function eventsText({ events, organizations, deaths, firstAtMs, lastAtMs }: ReadEvents): string {
  const span = firstAtMs === null || lastAtMs === null ? "" : `, ${iso(firstAtMs)} to ${iso(lastAtMs)}`;
  const died = deaths === null ? "" : `, ${countOf(deaths, "death")}`;
  return `${countOf(events, "event")} of ${countOf(organizations, "organization")}${span}${died}`;
}

/** "; 3 of them with the status offline, …": a file of another system often has events that do not count. */
export function otherStatusesText(others: Readonly<Record<string, number>>): string {
  const names = Object.keys(others);
  if (names.length === 0) return "";
  const events = Object.values(others).reduce((sum, count) => sum + count, 0);
  const some = names.slice(0, 3).map((name) => excerpt(name));
  const more = names.length > some.length ? " and others" : "";
  // Only a person knows which of several means that an asset is gone.
  const advice = `${names.length === 1 ? names[0] : "NAME"}=DETECTED_AS_DEAD`;
  return (
    `; ${formatCount(events)} of them with the status ${some.join(", ")}${more}, ` +
    `which is not counted as a death (--status ${advice} would count it)`
  );
}

export interface ImportUnderWay {
  readonly name: string;
  readonly rows: number;
  readonly received: number;
  readonly organizations: number;
  readonly renewedAtMs: number;
  readonly isRunning: boolean;
}

/** Posts of events that are being refused. */
export interface RefusedPosts {
  readonly posts: number;
  readonly sinceMs: number;
  readonly lastAtMs: number;
  /** The error of a row of the last one. */
  readonly example: string;
}

export function importText({ name, rows, received, ...its }: ImportUnderWay, nowMs: number): string {
  const share = `${formatCount(received)} of ${countOf(rows, "row")}`;
  return its.isRunning
    ? `${name} is being imported, ${share}: ` +
        `${countOf(its.organizations, "organization")} ` +
        `${its.organizations === 1 ? "is" : "are"} not checked for spikes meanwhile.`
    : `The import of ${name} stopped ${durationText(nowMs - its.renewedAtMs)} ago at ${share}: ` +
        `run it again to complete it.`;
}

export function refusedText({ posts, sinceMs, lastAtMs, example }: RefusedPosts, nowMs: number): string {
  return (
    `${countOf(posts, "post")} of events ${posts === 1 ? "was" : "were"} refused ` +
    `within ${durationText(nowMs - sinceMs)}, ` +
    `the last ${durationText(nowMs - lastAtMs)} ago: ${example}.`
  );
}

/** Returns the problem of a discovery source as a sentence; null: none. */
export function discoveryProblem({ name, problem, held }: Omit<DiscoverySource, "refreshedAtMs">): string | null {
  if (problem !== null) return `${name} gives no list: ${problem}. The last good one holds.`;
  if (held === null) return null;
  if (held.reason === "empty") return `${name} gives an empty list, which is held back.`;
  return `${name} gives a list that is held back: it would remove ${held.removed} organizations and add ${held.added}.`;
}
