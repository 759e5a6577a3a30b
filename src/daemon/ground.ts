import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import { asFlatlineError, type FlatlineError } from "../base/errors.ts";
import { ReleaseGroup } from "../base/lifecycle.ts";
import type { Logger } from "../base/logger.ts";
import type { Secret } from "../base/secret.ts";
import { secondMs, type Clock } from "../base/time.ts";
import type { Config } from "../config/config.ts";
import { createMetrics, type Metrics } from "../metrics/metrics.ts";
import { Board } from "../store/runs/board.ts";
import type { WebTransport } from "../web/web.ts";
import { requireStore } from "./fleet-view.ts";
import { openParts, type Parts, type PartsDeps } from "./parts.ts";
import type { StopSequence } from "./stop-sequence.ts";

export interface AppDeps extends PartsDeps {
  /** Version of Node.js, without a leading v. */
  readonly nodeVersion: string;
  readonly logger: Logger;
  /** Reads the configuration again, for a reload. Rejects with invalid_config. */
  readonly readConfig: () => Promise<Config>;
  /** Returns a UUID [random]. */
  readonly newId?: () => string;
  /** The transport of the web server [a socket]. */
  readonly transport?: WebTransport;
  /** Whether there are process_* and nodejs_* series [true]. */
  readonly withProcessMetrics?: boolean;
  /** Called when another process has taken over the store: this one cannot write any more and has to end. */
  readonly onTaken?: (error: FlatlineError) => void;
}

/** The dependencies of every part of a daemon. */
export interface Ground extends Omit<AppDeps, "dispatcher">, Parts {
  readonly signal: AbortSignal;
  readonly newId: () => string;
  /** The token of commands on this machine. */
  readonly localToken: Secret;
  readonly bus: Bus;
  readonly metrics: Metrics;
  readonly board: Board;
  /** Each part registers here what ends it. */
  readonly stop: StopSequence;
}

/** Opens the dependencies of the parts when no other process writes to the store; calls `standBy` while one does. */
export async function openGround(
  config: Config,
  deps: AppDeps & Pick<Ground, "signal" | "localToken"> & { readonly standBy: (holder: string) => void },
  stop: StopSequence,
): Promise<Ground> {
  const opened = await openParts(config, deps, stop.store);
  const { store, writer } = opened;
  writer.lost.addEventListener("abort", () => deps.onTaken?.(asFlatlineError(writer.lost.reason)), { once: true });
  // Rows in a deleted or replaced file are lost when this process ends.
  stop.doors.add("file of the store", () => requireStore(store), { stores: true });
  return {
    newId: randomUUID,
    ...deps,
    ...opened,
    bus: new EventEmitter(),
    metrics: createMetrics({ ...deps, withProcess: deps.withProcessMetrics ?? true }),
    board: new Board(),
    // Without a start there is no work to end.
    stop: deps.door === undefined ? stop : { ...stop, work: new ReleaseGroup() },
  };
}

/** One of the parts that app.ts lists. */
export interface Part {
  /** Starts the part, after the parts that it needs. */
  readonly start?: () => void | Promise<void>;
  /** Takes the runtime's current configuration. It is repeated after a failure. */
  readonly apply?: () => void | Promise<void>;
}

/** The events between the parts. */
export type Bus = EventEmitter<{
  /** Somebody acted, or may have: it is shown and processed at once. */
  changed: [];
  /** The daemon itself has stored alerts, runs, or something else that pages show. */
  stored: [what: "alerts" | "runs" | "else"];
  /** Every part has the new configuration. */
  applied: [];
}>;

// Many alerts change together.
const changesEveryMs = secondMs;
// Runs of a large fleet end all the time.
const runsEveryMs = 10 * secondMs;

/**
 * Returns the version of the data that pages show; while it is the same, nothing has to be read again. Runs change it
 * at most once in `everyMs` [10 s].
 */
export function createVersion(bus: Bus, clock: Pick<Clock, "monotonicMs">, everyMs = runsEveryMs): () => string {
  const changes = counter(clock, changesEveryMs);
  const runs = counter(clock, everyMs);
  bus.on("changed", changes.next);
  bus.on("applied", changes.next);
  bus.on("stored", (what) => (what === "runs" ? runs : changes).note());
  return () => `${changes.count()}.${runs.count()}`;
}

/** Counts changes; all that are noted within `everyMs` count once. */
function counter({ monotonicMs }: Pick<Clock, "monotonicMs">, everyMs: number) {
  let [count, isNoted, countedMs] = [0, false, -Infinity];
  const next = (): void => {
    [count, isNoted, countedMs] = [count + 1, false, monotonicMs()];
  };
  return {
    next,
    note: () => {
      isNoted = true;
    },
    count: () => {
      if (isNoted && monotonicMs() - countedMs >= everyMs) next();
      return count;
    },
  };
}
