import { checkKey } from "../../contract/check-key.ts";
import type { CheckName } from "../../contract/report.ts";
import type { CheckKey, CheckState } from "./check-state.ts";
import type { StoredRun, StoredCheck } from "./checks.ts";

/** The last state of every check, in memory: what the table `checks` holds, and nothing else. */
export class Board {
  readonly #ids = new Map<string, number>();
  readonly #states = new Map<number, CheckState>();

  /** Takes over what was read. */
  learn(checks: readonly StoredCheck[]): void {
    for (const { checkId, check, slug, state } of checks) {
      this.name(checkId, { check, slug });
      if (state !== null) this.#states.set(checkId, state);
    }
  }

  /** Takes over a commit. */
  apply(runs: readonly StoredRun[]): void {
    for (const { checkId, state } of runs) this.#states.set(checkId, state);
  }

  /** Sets the number of a check. */
  name(checkId: number, key: CheckKey): void {
    this.#ids.set(checkKey(key), checkId);
  }

  /** Returns the number of a check; undefined if it never ran. */
  idOf(key: CheckKey): number | undefined {
    return this.#ids.get(checkKey(key));
  }

  state(check: CheckName, slug: string): CheckState | null {
    return this.stateByKey(checkKey({ check, slug }));
  }

  stateByKey(key: string): CheckState | null {
    return this.stateOf(this.#ids.get(key) ?? 0);
  }

  /** Returns the last state of the check with this number. */
  stateOf(checkId: number): CheckState | null {
    return this.#states.get(checkId) ?? null;
  }

  states(): CheckState[] {
    return [...this.#states.values()];
  }

  /** Lets go of all other checks, and returns the numbers of those with a last state. */
  keepOnly(isKept: (key: CheckKey) => boolean): number[] {
    const gone = [...this.#states].filter(([, state]) => !isKept(state));
    for (const [checkId, state] of gone) {
      this.#states.delete(checkId);
      // The store may delete the check and give its number to another one.
      this.#ids.delete(checkKey(state));
    }
    return gone.map(([checkId]) => checkId);
  }
}
