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
  /** A UUID for an alert, a notification, a silence, or this process as the owner of deliveries [a random one]. */
  readonly newId?: () => string;
  /** How the web listens [on a socket]. */
  readonly transport?: WebTransport;
  /** process_* and nodejs_* series too [true]. */
  readonly withProcessMetrics?: boolean;
  /** Called when another process has taken over the store: this one can write nothing any more, and has to end [not called]. */
  readonly onTaken?: (error: FlatlineError) => void;
}

/** What every part of a daemon is made with. */
export interface Ground extends Omit<AppDeps, "dispatcher">, Parts {
  readonly signal: AbortSignal;
  readonly newId: () => string;
  /** What a command on this machine shows. */
  readonly localToken: Secret;
  readonly bus: Bus;
  readonly metrics: Metrics;
  readonly board: Board;
  /** Each part registers here what ends it. */
  readonly stop: StopSequence;
}

/**
 * Opens what the parts are made with, as soon as no other process writes to the store; `standBy` is called while one
 * does. What ends it is added to `stop`.
 */
export async function openGround(
  config: Config,
  deps: AppDeps & Pick<Ground, "signal" | "localToken"> & { readonly standBy: (holder: string) => void },
  stop: StopSequence,
): Promise<Ground> {
  const opened = await openParts(config, deps, stop.store);
  const { store, writer } = opened;
  writer.lost.addEventListener("abort", () => deps.onTaken?.(asFlatlineError(writer.lost.reason)), { once: true });
  // Rows that are written to a deleted or replaced file are lost with this process.
  stop.doors.add("file of the store", () => requireStore(store), { stores: true });
  return {
    newId: randomUUID,
    ...deps,
    ...opened,
    bus: new EventEmitter(),
    metrics: createMetrics({ ...deps, withProcess: deps.withProcessMetrics ?? true }),
    board: new Board(),
    // What does not begin has nothing to end.
    stop: deps.door === undefined ? stop : { ...stop, work: new ReleaseGroup() },
  };
}

/** One of the parts that app.ts lists. */
export interface Part {
  /** Begins; what it needs has begun. */
  readonly start?: () => void | Promise<void>;
  /** Takes the configuration that the runtime holds now. What it did before it rejected may be done again. */
  readonly apply?: () => void | Promise<void>;
}

/** What parts tell whoever listens. */
export type Bus = EventEmitter<{
  /** Somebody has acted, or may have: it is shown, and looked at, at once. */
  changed: [];
  /** The daemon itself has stored alerts, runs, or something else that pages show. */
  stored: [what: "alerts" | "runs" | "else"];
  /** Every part has another configuration. */
  applied: [];
}>;

// Many alerts change together.
const changesEveryMs = secondMs;
// Runs of a large fleet end all the time.
const runsEveryMs = 10 * secondMs;

/** Returns the version of what pages show: whoever has the one that holds now has to read nothing again. */
export function createVersion(bus: Bus, clock: Pick<Clock, "monotonicMs">): () => string {
  const changes = counter(clock, changesEveryMs);
  const runs = counter(clock, runsEveryMs);
  bus.on("changed", changes.next);
  bus.on("applied", changes.next);
  bus.on("stored", (what) => (what === "runs" ? runs : changes).note());
  return () => `${changes.count()}.${runs.count()}`;
}

/** Counts what is noted, all of it within `everyMs` as one. */
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
