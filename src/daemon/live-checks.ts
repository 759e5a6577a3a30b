import type { CheckTarget } from "../checks/checks.ts";
import { checkKey } from "../contract/check-key.ts";
import { firstDueAtMs } from "../monitor/scheduled-checks.ts";
import { evenIntervalMs, staleAfterMs } from "../monitor/schedule.ts";
import type { Scheduler } from "../monitor/scheduler.ts";
import type { CheckState, RunningChecks } from "../web/read/running.ts";
import type { Ground } from "./ground.ts";
import type { Runtime } from "./runtime.ts";

interface LiveParts extends Pick<Ground, "board" | "clock"> {
  readonly runtime: Pick<Runtime, "current">;
  readonly scheduler: Pick<Scheduler, "standing">;
}

/** Returns the configured checks. A list of ten thousand costs nothing: each check reads its state when it is asked. */
export function createLiveChecks(parts: LiveParts): RunningChecks {
  let [known, applied] = [new Map<string, LiveCheck>(), null as unknown];
  function current(): ReadonlyMap<string, LiveCheck> {
    const now = parts.runtime.current();
    if (applied === now) return known;
    applied = now;
    known = new Map(Array.from(now.targetByKey, ([key, target]) => [key, new LiveCheck(key, target, parts)]));
    return known;
  }
  return {
    all: () => [...current().values()],
    of: (check, slug) => current().get(checkKey({ check, slug })) ?? null,
  };
}

class LiveCheck implements CheckState {
  readonly check: CheckTarget["check"];
  readonly slug: string;
  readonly #key: string;
  readonly #target: CheckTarget;
  readonly #parts: LiveParts;

  constructor(key: string, target: CheckTarget, parts: LiveParts) {
    this.check = target.check;
    this.slug = target.slug;
    this.#key = key;
    this.#target = target;
    this.#parts = parts;
  }

  get last(): CheckState["last"] {
    return this.#parts.board.stateByKey(this.#key);
  }

  get isRunning(): boolean {
    return this.#parts.scheduler.standing(this.#key)?.isRunning ?? false;
  }

  get nextDueAtMs(): number {
    const { board, clock, scheduler } = this.#parts;
    const standing = scheduler.standing(this.#key);
    return standing?.dueAtMs ?? firstDueAtMs(this.#target, board.stateByKey(this.#key), clock.nowMs());
  }

  intervalMs(): number | null {
    return evenIntervalMs(this.#target.schedule);
  }

  staleAfterMs(): number {
    const { last } = this;
    return last === null ? Infinity : staleAfterMs(this.#target.schedule, this.slug, last.lastRunAtMs);
  }
}
