import { packRow, WrittenRuns, type RowRuns } from "./journal-row.ts";
import type { JournalRecord, Owner } from "./runs.ts";

/** A commit to be appended. */
export interface OwnCommit extends Omit<JournalRecord, "ownerId"> {
  readonly packed: RowRuns;
}

/** The journal of this process: packs its commits one after the other. */
export class OwnJournal {
  readonly owner: Owner;
  #seq = 0;
  #written = new WrittenRuns();
  #underWay: PromiseWithResolvers<void> | null = null;

  constructor(owner: Owner) {
    this.owner = owner;
  }

  /** Returns whether the next commit may repeat the last run of the check. */
  canRepeat(checkId: number): boolean {
    return this.#written.has(checkId);
  }

  /** Packs the next commit; `end` must be called before the one after it. */
  begin(packed: RowRuns, atMs: number): OwnCommit {
    this.#underWay = Promise.withResolvers();
    return { seq: this.#seq + 1, atMs, runs: packRow(packed, this.#written), packed };
  }

  /** Ends a commit. If it was not appended, the next one refers to nothing before it. */
  end(commit: OwnCommit, isAppended: boolean): void {
    if (isAppended) this.#seq = commit.seq;
    else this.#written = new WrittenRuns();
    this.#underWay?.resolve();
    this.#underWay = null;
  }

  /** Returns the last commit. Later rows do not refer to earlier ones, so these can be folded. */
  async cut(): Promise<number> {
    while (this.#underWay !== null) await this.#underWay.promise;
    this.#written = new WrittenRuns();
    return this.#seq;
  }
}
