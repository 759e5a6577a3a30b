import { FlatlineError } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { Clock } from "../base/time.ts";
import type { CheckReport } from "../contract/report.ts";
import type { Membership } from "./membership.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Board } from "../store/runs/board.ts";
import type { CheckKey } from "../store/runs/check-state.ts";
import type { Store } from "../store/store.ts";

/** Runs that are asked for at one process and done by another, which owns the check. */
export interface RunRequests {
  /** Has the owner run the check, and answers from its journal. @throws FlatlineError api_timeout, unavailable */
  ask(check: CheckKey, signal: AbortSignal): Promise<CheckReport>;
  /** Runs what others asked for of the checks that this process owns; does not wait for the runs. */
  answer(): Promise<void>;
}

export interface RunRequestsOptions {
  readonly store: Pick<Store, "runs">;
  readonly board: Pick<Board, "state">;
  readonly membership: Pick<Membership, "owns" | "follow">;
  readonly scheduler: () => Pick<Scheduler, "runNow">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Bound of one run with its wait for a place. */
  readonly runWithinMs: () => number;
}

const askEveryMs = 250;

/** Over the table of requests. */
export function createRunRequests(options: RunRequestsOptions): RunRequests {
  const { store, board, membership, clock, logger } = options;
  const underWay = new Set<number>();

  async function isOpen(wanted: number): Promise<boolean> {
    return (await store.runs.requests()).some(({ requestId }) => requestId === wanted);
  }

  async function run(requestId: number, { check, slug }: CheckKey): Promise<void> {
    underWay.add(requestId);
    try {
      await options.scheduler().runNow(check, slug, clock.timeout(options.runWithinMs()));
    } catch (error) {
      // The process that asked finds no new run.
      logger.warn({ err: error, check, slug }, "run that another process asked for was not done");
    } finally {
      await store.runs.endRequests([requestId]).catch((error: unknown) => {
        logger.warn({ err: error, check, slug }, "request for a run could not be removed, it is run again");
      });
      underWay.delete(requestId);
    }
  }

  async function answer(): Promise<void> {
    for (const { requestId, check, slug } of await store.runs.requests()) {
      if (!underWay.has(requestId) && membership.owns({ check, slug })) void run(requestId, { check, slug });
    }
  }

  return {
    ask: async (check, signal) => {
      const before = board.state(check.check, check.slug);
      const requestId = await store.runs.request(check, clock.nowMs());
      while (await isOpen(requestId)) {
        await clock.sleep(askEveryMs, signal);
        if (signal.aborted) {
          await store.runs.endRequests([requestId]);
          throw new FlatlineError("api_timeout", "the process that owns the check did not run it in time");
        }
        // The check may have come to this process, which looks at no requests while it is alone on the store.
        await answer();
      }
      // The request goes after the commit of the run.
      await membership.follow();
      const after = board.state(check.check, check.slug);
      if (after === null || after === before)
        throw new FlatlineError("unavailable", "the process that owns the check could not run it: try again");
      return after.lastReport;
    },
    answer,
  };
}
