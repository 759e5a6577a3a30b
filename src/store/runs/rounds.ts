import { hourMs } from "../../base/time.ts";
import { Column } from "./columns.ts";
import type { RepeatedRuns, RunTimes } from "./journal-row.ts";

/** Runs of many checks that repeat their reports; `seq` is the commit of the owner. */
export interface Round extends RunTimes {
  readonly ownerId: number;
  readonly seq: number;
  readonly hour: number;
}

interface ChainedRound extends Round {
  next: ChainedRound | null;
}

/**
 * The rounds that checks took part in, until they are asked for. Rounds of one owner in one hour make a chain. A check takes part
 * in all rounds of a chain between its first and its last one, so that a further one costs no more than to note it as the last.
 */
export class Rounds {
  readonly #first = new Column<ChainedRound>();
  readonly #last = new Column<ChainedRound>();

  /**
   * Adds a round. Calls `enter` for each check that is not in the round before it, with its last round; if it returns false, the
   * check takes no part.
   */
  add(
    { checkIds, ...times }: RepeatedRuns,
    commit: Pick<Round, "ownerId" | "seq">,
    enter: (checkId: number, last: Round | null) => boolean,
  ): void {
    const hour = Math.floor(times.finishedAtMs / hourMs);
    const { ownerId, seq } = commit;
    const round: ChainedRound = { ...times, ownerId, seq, hour, next: null };
    const before = this.#roundBefore(round, checkIds);
    if (before !== null) before.next = round;
    for (const checkId of checkIds) {
      const last = this.#last.get(checkId);
      if (last === undefined || last !== before) {
        if (!enter(checkId, last ?? null)) continue;
        this.#first.set(checkId, round);
      }
      this.#last.set(checkId, round);
    }
  }

  /** Returns the rounds of a check, in order, and removes them. */
  take(checkId: number): readonly Round[] {
    const last = this.#last.get(checkId);
    if (last === undefined) return none;
    const rounds: Round[] = [];
    for (let round = this.#first.get(checkId) ?? null; round !== null; round = round.next) {
      rounds.push(round);
      if (round === last) break;
    }
    this.#first.set(checkId, undefined);
    this.#last.set(checkId, undefined);
    return rounds;
  }

  clear(): void {
    this.#first.clear();
    this.#last.clear();
  }

  /** Returns the round that this one follows: the last one of the first check whose chain can go on. */
  #roundBefore({ ownerId, hour }: Round, checkIds: Int32Array): ChainedRound | null {
    for (const checkId of checkIds) {
      const last = this.#last.get(checkId);
      if (last?.next === null && last.ownerId === ownerId && last.hour === hour) return last;
    }
    return null;
  }
}

const none: readonly Round[] = [];
