import type { Logger } from "../../base/logger.ts";
import { minuteMs, type Clock } from "../../base/time.ts";
import type { FailedVia } from "../../contract/actor.ts";
import type { Metrics } from "../../metrics/metrics.ts";

/** Called for each request whose credentials are wrong, with the address that it came from. */
export type NoteFailure = (via: FailedVia, address: string) => void;

declare module "fastify" {
  interface FastifyRequest {
    /** How its credentials were given, if they are wrong. */
    failedVia: FailedVia | null;
  }
}

/**
 * Counts wrong credentials, and logs them: the first one of its kind at once, later ones in one line per minute, so
 * that who guesses tokens does not fill the log.
 */
export function createFailureNotes({
  metrics,
  logger,
  clock,
}: {
  readonly metrics: Pick<Metrics, "authFailed">;
  readonly logger: Logger;
  readonly clock: Pick<Clock, "monotonicMs">;
}): NoteFailure {
  const seen = new Map<FailedVia, { loggedAtMs: number; unlogged: number }>();
  return (via, address) => {
    metrics.authFailed(via);
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
