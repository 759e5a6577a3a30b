import type { Recorder } from "../alerting/record.ts";
import type { Config } from "../config/config.ts";
import type { SchedulerOptions } from "../monitor/scheduler.ts";
import type { Store } from "../store/store.ts";
import type { FleetView } from "./fleet-view.ts";
import type { Runtime } from "./runtime.ts";

/**
 * The scheduler's rounds where checks take microseconds and no other daemon shares the store: over events in its own file.
 * Replicas claim each run, so that two of them do not do the same work.
 */
export function roundsOver(parts: {
  readonly config: Config;
  readonly store: Store;
  readonly runtime: Runtime;
  readonly recorder: Recorder;
  readonly fleet: FleetView;
}): Pick<SchedulerOptions, "rounds"> {
  const { config, store, runtime, recorder, fleet } = parts;
  if (store.engine !== "sqlite" || config.source.type !== "embedded") return {};
  return {
    rounds: {
      run: (targets) => runtime.runRound(targets),
      record: (requests) => recorder.recordRound(requests),
      onRecorded: (states) => fleet.note(states),
    },
  };
}
