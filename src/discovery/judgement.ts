/** A list that is not applied by itself. */
export interface HeldList {
  /** `empty`: only a person applies it; `shrunk`: three refreshes in a row that gave the same organizations do, too. */
  readonly reason: "empty" | "shrunk";
  /** Of the slugs of the list. */
  readonly slugsDigest: string;
  /** How many refreshes in a row gave these organizations. */
  readonly repeats: number;
  readonly countedAtMs: number;
}

export interface JudgedLists {
  /** Slugs of the list that holds; null: none was ever applied. */
  readonly applied: readonly string[] | null;
  readonly offered: readonly string[];
  readonly offeredDigest: string;
  /** The list that was held at the last refresh. */
  readonly held: HeldList | null;
  readonly nowMs: number;
  readonly refreshIntervalMs: number;
}

export type Judgement = { readonly kind: "apply" } | { readonly kind: "hold"; readonly held: HeldList };

// Of a smaller source half is no sign of a fault.
const fewestRemoved = 5;
const neededRepeats = 3;

/**
 * Decides whether a list that a source gave is applied (CONTRACT 14). A source that forgets its customers must not end their
 * checks: an empty list after one that was not waits for a person, and one that would remove more than half of the last one
 * until three refreshes in a row gave the same organizations.
 */
export function judgeList({ applied, offered, offeredDigest, held, nowMs, refreshIntervalMs }: JudgedLists): Judgement {
  if (applied === null || applied.length === 0) return { kind: "apply" };
  const isSame = held?.slugsDigest === offeredDigest;
  if (offered.length === 0) {
    const since = isSame ? held : { reason: "empty" as const, slugsDigest: offeredDigest, repeats: 0, countedAtMs: 0 };
    return { kind: "hold", held: { ...since, repeats: since.repeats + 1, countedAtMs: nowMs } };
  }
  const present = new Set(offered);
  const removed = applied.filter((slug) => !present.has(slug)).length;
  if (removed < fewestRemoved || 2 * removed <= applied.length) return { kind: "apply" };
  if (!isSame || held.repeats === 0)
    return {
      kind: "hold",
      held: { reason: "shrunk", slugsDigest: offeredDigest, repeats: 1, countedAtMs: nowMs },
    };
  // A process that restarts again and again refreshes each time: that is no confirmation.
  const isSpaced = Math.abs(nowMs - held.countedAtMs) >= refreshIntervalMs / 2;
  if (!isSpaced) return { kind: "hold", held };
  if (held.repeats + 1 >= neededRepeats) return { kind: "apply" };
  return { kind: "hold", held: { ...held, repeats: held.repeats + 1, countedAtMs: nowMs } };
}
