import { FlatlineError } from "../base/errors.ts";
import type { FirstEvents } from "../contract/liveness-counts.ts";
import type { CheckRun, StoredEvents } from "./kind.ts";
import type { EventTarget } from "./target.ts";

/** Returns the reads of a check that the configuration refuses where no events are stored. */
export function requireEvents({ events }: CheckRun, check: string): StoredEvents {
  if (events === undefined)
    throw new FlatlineError("internal", `${check} needs stored events, and this source has none`);
  return events;
}

/** What is known of an organization's first event. */
export interface FirstEvent {
  /** false: no event was ever stored. */
  readonly hasBegun: boolean;
  /** null: none, or it was deleted since. */
  readonly atMs: number | null;
}

/** Returns what is known of the first event; undefined: nothing is. @throws no_events unless that counts as ok */
export function firstEventOf({ slug, whenNoEvents }: EventTarget, known: FirstEvents | null): FirstEvent | undefined {
  if (known === null) return undefined;
  const hasBegun = known.has(slug);
  if (whenNoEvents === "unknown" && !hasBegun) throw noEvents(slug);
  return { hasBegun, atMs: known.get(slug) ?? null };
}

/** Reads the same. @throws no_events, and the errors of the read */
export async function readFirstEvent(
  target: EventTarget,
  { firstEvents }: Pick<CheckRun, "firstEvents">,
): Promise<FirstEvent | undefined> {
  return firstEventOf(target, (await firstEvents?.([target.slug])) ?? null);
}

function noEvents(slug: string): FlatlineError {
  const message = `no liveness event of ${JSON.stringify(slug)} was ever stored, so nothing is known of it: see whether its events arrive and name it so; for a stream that carries deaths only, set whenNoEvents: ok`;
  return new FlatlineError("no_events", message);
}
