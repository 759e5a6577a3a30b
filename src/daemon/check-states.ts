import type { Clock } from "../base/time.ts";
import type { CheckName, CheckReport, ShownCounts } from "../contract/report.ts";
import type { CheckSeriesInput } from "../metrics/metrics.ts";
import { firstDueAtMs } from "../monitor/due-times.ts";
import { evenIntervalMs, nextDueAtMs, staleAfterMs } from "../monitor/schedule.ts";
import type { Scheduler } from "../monitor/scheduler.ts";
import { checkKey } from "../contract/check-key.ts";
import type { CheckTarget } from "../checks/checks.ts";
import type { Severity } from "../contract/severity.ts";
import type { Board } from "../store/runs/board.ts";
import type { CheckState as StateOnBoard } from "../store/runs/check-state.ts";
import type { CheckSnapshot } from "../web/read/checks.ts";
import type { CheckState } from "../web/read/running.ts";
import type { Runtime } from "./runtime.ts";

/** The configured checks as metrics, page and API show them: the board, with what the schedule says. */
export interface CheckStates {
  all(): CheckState[];
  /** null: it is not configured. */
  of(check: CheckName, slug: string): CheckState | null;
  /** What metrics show of a state. */
  seriesOf(state: CheckState): CheckSeriesInput;
  /** How its schedule goes on; never due again once it is no longer configured. */
  paceOf(state: CheckState): Pick<CheckSnapshot, "intervalMs" | "secondDueAtMs">;
  /** How far apart its ticks are; null where they are uneven, or it is not configured. */
  intervalMs(state: CheckState): number | null;
  /** Beyond this age a verdict is shown as after a failed run; never, where it has not run. */
  staleAfterMs(state: CheckState): number;
}

export interface CheckStatesOptions {
  readonly board: Pick<Board, "stateByKey">;
  readonly runtime: Pick<Runtime, "current">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly scheduler: Pick<Scheduler, "standing">;
}

/** A page reads those of the whole fleet: reports are built on demand, and then kept. */
class ShownState implements CheckState {
  readonly check: CheckName;
  readonly slug: string;
  readonly nextDueAtMs: number;
  readonly isRunning: boolean;
  readonly #last: StateOnBoard | null;
  #report: CheckReport | null = null;

  constructor(check: CheckName, slug: string, last: StateOnBoard | null, nextDueAtMs: number, isRunning: boolean) {
    this.check = check;
    this.slug = slug;
    this.nextDueAtMs = nextDueAtMs;
    this.isRunning = isRunning;
    this.#last = last;
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
}

/** Over the configuration that holds at each question. */
export function createCheckStates({ board, runtime, clock, scheduler }: CheckStatesOptions): CheckStates {
  function stateOf(key: string, target: CheckTarget): CheckState {
    const last = board.stateByKey(key);
    const own = scheduler.standing(key);
    // The checks of other processes have the same rule, and the same last run.
    const dueAtMs = own?.dueAtMs ?? firstDueAtMs(target, last, clock.nowMs());
    return new ShownState(target.check, target.slug, last, dueAtMs, own?.isRunning ?? false);
  }

  function staleAfter(state: CheckState): number {
    const target = runtime.current().targetByKey.get(checkKey(state));
    if (target === undefined || state.lastRunAtMs === null) return Number.POSITIVE_INFINITY;
    return staleAfterMs(target.schedule, state.slug, state.lastRunAtMs);
  }

  return {
    all: () => Array.from(runtime.current().targetByKey, ([key, target]) => stateOf(key, target)),
    of: (check, slug) => {
      const key = checkKey({ check, slug });
      const target = runtime.current().targetByKey.get(key);
      return target === undefined ? null : stateOf(key, target);
    },
    seriesOf: (state) => {
      const { check, slug, lastReport, lastRunAtMs, lastSuccessAtMs, nextDueAtMs } = state;
      return { check, slug, lastReport, lastRunAtMs, lastSuccessAtMs, nextDueAtMs, staleAfterMs: staleAfter(state) };
    },
    intervalMs: (state) => {
      const schedule = runtime.current().targetByKey.get(checkKey(state))?.schedule;
      return schedule === undefined ? null : evenIntervalMs(schedule);
    },
    paceOf: (state) => {
      const schedule = runtime.current().targetByKey.get(checkKey(state))?.schedule;
      if (schedule === undefined) return { intervalMs: null, secondDueAtMs: Number.POSITIVE_INFINITY };
      return {
        intervalMs: evenIntervalMs(schedule),
        secondDueAtMs: nextDueAtMs(schedule, state.slug, state.nextDueAtMs),
      };
    },
    staleAfterMs: staleAfter,
  };
}
