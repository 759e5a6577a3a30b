import { packRow, ShapeNumbers, type JournalRun } from "./journal-row.ts";
import type { JournalRecord, Owner } from "./runs.ts";

/** A commit to be appended. */
export interface OwnCommit extends Omit<JournalRecord, "ownerId"> {
  readonly entries: readonly JournalRun[];
}

/** The journal of this process: packs its commits one after the other. */
export class OwnJournal {
  readonly owner: Owner;
  #seq = 0;
  #numbers = new ShapeNumbers();
  #underWay: PromiseWithResolvers<void> | null = null;

  constructor(owner: Owner) {
    this.owner = owner;
  }

  /** Packs the next commit; `end` must be called before the one after it. */
  begin(entries: readonly JournalRun[], atMs: number): OwnCommit {
    this.#underWay = Promise.withResolvers();
    return { seq: this.#seq + 1, atMs, runs: packRow(entries, this.#numbers), entries };
  }

  /** Ends a commit. If it was not appended, the next one defines its shapes again. */
  end(commit: OwnCommit, isAppended: boolean): void {
    if (isAppended) this.#seq = commit.seq;
    else this.#numbers = new ShapeNumbers();
    this.#underWay?.resolve();
    this.#underWay = null;
  }

  /** Returns the last commit. Later rows do not refer to earlier ones, so these can be folded. */
  async cut(): Promise<number> {
    while (this.#underWay !== null) await this.#underWay.promise;
    this.#numbers = new ShapeNumbers();
    return this.#seq;
  }
}
