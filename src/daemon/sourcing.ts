import { createDiscovery } from "../discovery/discovery.ts";
import type { Config } from "../config/config.ts";
import { createReloading } from "./reloading.ts";
import type { Ground, Part } from "./ground.ts";
import type { Ingest } from "./ingest.ts";
import { createRuntime } from "./runtime.ts";

/** The current configuration with its source, discovered organizations and events. */
export type Sourcing = Awaited<ReturnType<typeof createSourcing>>;

/** Creates it from `written`; `apply` gives every part the runtime's current configuration. */
export async function createSourcing(written: Config, ground: Ground, apply: () => Promise<void>) {
  const { clock, metrics, stop } = ground;
  const discovery = createDiscovery({
    ...ground,
    config: written,
    apply: (read) => reloading.applyDiscovered(read),
  });
  stop.work.add("discovery", () => discovery.stop());
  const config = await discovery.join(written);
  const { holdsEvents, isLocal } = config.source;
  const runtime = createRuntime(config, {
    ...ground,
    openLocal: isLocal ? (await import("./local-source.ts")).openLocal : null,
    onRequest: ({ operation, code }) => metrics.sourceRequest(operation, code),
  });
  const reloading = createReloading(ground, runtime, discovery, apply);
  stop.work.add("reload", reloading.stop);
  let ingest: Ingest | null = null;
  if (holdsEvents) {
    const { openIngest } = await import("./ingest.ts");
    ingest = await openIngest(ground);
    stop.doors.add("event ingest", () => ingest?.close());
  }

  const part: Part = {
    start: async () => {
      metrics.configReloaded(true, clock.nowMs());
      discovery.start();
      if (!holdsEvents) return;
      const { startFilling } = await import("./backfill.ts");
      stop.work.add("past of the organizations", startFilling(ground, config.organizations));
    },
  };
  return { ...part, config, runtime, discovery, reloading, ingest };
}
