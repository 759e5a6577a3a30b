import type { Clock } from "../base/time.ts";
import type { CheckName, CheckReport, ShownCounts } from "../contract/report.ts";
import { firstDueAtMs } from "../monitor/scheduled-checks.ts";
import { evenIntervalMs, staleAfterMs } from "../monitor/schedule.ts";
import type { Scheduler } from "../monitor/scheduler.ts";
import { checkKey } from "../contract/check-key.ts";
import type { CheckTarget } from "../checks/checks.ts";
import type { Severity } from "../contract/severity.ts";
import type { Board } from "../store/runs/board.ts";
import type { CheckState as StateOnBoard } from "../store/runs/check-state.ts";
import type { CheckState, RunningChecks } from "../web/read/running.ts";
import type { Runtime } from "./runtime.ts";

export interface CheckStatesOptions {
  readonly board: Pick<Board, "stateByKey">;
  readonly runtime: Pick<Runtime, "current">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly scheduler: Pick<Scheduler, "standing">;
}

/** A page reads those of the whole fleet: reports are built on demand, and then kept. */
class ShownState implements CheckState {
  readonly nextDueAtMs: number;
  readonly isRunning: boolean;
  readonly #target: CheckTarget;
  readonly #last: StateOnBoard | null;
  #report: CheckReport | null = null;

  constructor(target: CheckTarget, last: StateOnBoard | null, nextDueAtMs: number, isRunning: boolean) {
    this.nextDueAtMs = nextDueAtMs;
    this.isRunning = isRunning;
    this.#target = target;
    this.#last = last;
  }

  get check(): CheckName {
    return this.#target.check;
  }

  get slug(): string {
    return this.#target.slug;
  }

  get lastRunAtMs(): number | null {
    return this.#last?.lastRunAtMs ?? null;
  }

  get lastSuccessAtMs(): number | null {
    return this.#last?.lastSuccessAtMs ?? null;
  }

  get severity(): Severity | null {
    return this.#last?.severity ?? null;
  }

  get severitySinceMs(): number | null {
    return this.#last?.severitySinceMs ?? null;
  }

  get lastCounts(): ShownCounts | null {
    return this.#last?.lastCounts ?? null;
  }

  get lastReport(): CheckReport | null {
    return (this.#report ??= this.#last?.lastReport ?? null);
  }

  get lastResultReport(): CheckReport | null {
    return this.#last?.lastResultReport ?? null;
  }

  get intervalMs(): number | null {
    return evenIntervalMs(this.#target.schedule);
  }

  get staleAfterMs(): number {
    const atMs = this.#last?.lastRunAtMs ?? null;
    return atMs === null ? Number.POSITIVE_INFINITY : staleAfterMs(this.#target.schedule, this.#target.slug, atMs);
  }
}

/** The configured checks as metrics, page and API show them: the board, with what the schedule says. */
export function createCheckStates({ board, runtime, clock, scheduler }: CheckStatesOptions): RunningChecks {
  function stateOf(key: string, target: CheckTarget): CheckState {
    const last = board.stateByKey(key);
    const own = scheduler.standing(key);
    const dueAtMs = own?.dueAtMs ?? firstDueAtMs(target, last, clock.nowMs());
    return new ShownState(target, last, dueAtMs, own?.isRunning ?? false);
  }

  return {
    all: () => Array.from(runtime.current().targetByKey, ([key, target]) => stateOf(key, target)),
    of: (check, slug) => {
      const key = checkKey({ check, slug });
      const target = runtime.current().targetByKey.get(key);
      return target === undefined ? null : stateOf(key, target);
    },
  };
}
