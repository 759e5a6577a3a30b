import { minuteMs } from "../../base/time.ts";
import type { FailedVia } from "../../contract/actor.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import type { Running } from "../read/running.ts";

/** Notes a request with wrong credentials; `address` is its sender. */
export type NoteFailure = (via: FailedVia, address: string) => void;

declare module "fastify" {
  interface FastifyRequest {
    /** null: its credentials are not wrong. */
    failedVia: FailedVia | null;
  }
}

/** Counts wrong credentials; logs the first of each kind at once, and later ones once a minute. */
export function createFailureNotes(
  { logger, clock }: Pick<Running, "logger" | "clock">,
  count: Metrics["authFailed"],
): NoteFailure {
  const seen = new Map<FailedVia, { loggedAtMs: number; unlogged: number }>();
  return (via, address) => {
    count(via);
    const last = seen.get(via);
    const nowMs = clock.monotonicMs();
    if (last !== undefined && nowMs - last.loggedAtMs < minuteMs) {
      last.unlogged++;
      return;
    }
    logger.warn({ via, address, unlogged: last?.unlogged ?? 0 }, "wrong credentials");
    seen.set(via, { loggedAtMs: nowMs, unlogged: 0 });
  };
}
