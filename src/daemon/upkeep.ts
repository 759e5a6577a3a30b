import { createUnwatched } from "../web/read/unwatched.ts";
import type { Alerting } from "./alerting.ts";
import type { Checking } from "./checking.ts";
import type { Ground, Part } from "./ground.ts";
import { createHeartbeat } from "./heartbeat.ts";
import { createMaintenance } from "./maintenance.ts";
import type { Runtime } from "./runtime.ts";

/** What keeps a daemon well, and says whether it is. */
export type Upkeep = ReturnType<typeof createUpkeep>;

/** Creates the loops that tidy up, beat, and look for organizations that nobody watches. */
export function createUpkeep(ground: Ground, runtime: Runtime, { loops }: Alerting, checking: Checking) {
  const { bus, signal, stop } = ground;
  const { scheduler, fleet } = checking;
  const current = () => runtime.current();
  /** Returns what has stalled, in words. A stop ends the loops, and itself in time: nothing is restarted that is about to end. */
  const stalled = (): string[] => (signal.aborted ? [] : fleet.stalled({ scheduler, ...loops }));
  const heartbeat = createHeartbeat({
    ...ground,
    settings: () => current().config.heartbeat,
    isAlive: () => !fleet.isStoreAway() && stalled().length === 0,
  });
  const maintenance = createMaintenance({
    ...ground,
    config: () => current().config,
    gateOf: (slug) => current().settings.gateOf(slug),
  });
  const unwatched = createUnwatched(ground, () => {
    const { config, slugs } = current();
    return { holdsEvents: config.source.holdsEvents, slugs };
  });

  bus.on("applied", heartbeat.wake);
  stop.work.add("heartbeat", heartbeat.stop);
  stop.work.add("maintenance", maintenance.stop);
  stop.work.add("unwatched slugs", () => unwatched.stop());
  const part: Part = {
    start: () => {
      maintenance.start();
      unwatched.start();
      heartbeat.start();
    },
  };
  return { ...part, stalled, unwatched };
}
