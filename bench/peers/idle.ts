import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { minuteMs } from "../../src/base/time.ts";
import { sleepMs } from "../daemon.ts";
import { startMonitor } from "./monitor.ts";
import { wireFlatline, wirePeer, type Wiring } from "./wiring.ts";

/** What each process of both takes while it has nothing to do, processor seconds per minute. */
export interface Idle {
  readonly flatline: readonly number[];
  readonly peer: readonly number[];
}

// What a start leaves to be done, as the check that was due.
const settleMs = 20_000;

/** Starts all of them without anything to watch, and measures for `idleMs`. */
export async function measureIdle(idleMs: number): Promise<Idle> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "flatline-bench-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const nowhere = "http://127.0.0.1:9";
  const wiring: Omit<Wiring, "folder"> = {
    platformUrl: nowhere,
    receiverUrl: nowhere,
    slugs: [],
    intervalSeconds: 60,
    groupWaitSeconds: 10,
    groupIntervalSeconds: 60,
  };
  const own = await wireFlatline({ ...wiring, folder: join(folder, "flatline") });
  const others = await wirePeer({ ...wiring, folder: join(folder, "peer") });
  const monitors = await Promise.all([...own, ...others].map((program) => startMonitor([program])));
  for (const monitor of monitors) stack.defer(() => monitor.stop());
  await sleepMs(settleMs);
  const before = monitors.map((monitor) => monitor.cpuSeconds());
  await sleepMs(idleMs);
  const perMinute = monitors.map(
    (monitor, index) => ((monitor.cpuSeconds() - (before[index] ?? 0)) * minuteMs) / idleMs,
  );
  return { flatline: perMinute.slice(0, own.length), peer: perMinute.slice(own.length) };
}
