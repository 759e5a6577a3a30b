import { messageOf } from "../base/errors.ts";
import { sendRequest } from "../base/http.ts";
import { createLoop } from "../base/loop.ts";
import { redact } from "../base/secret.ts";
import { secondMs } from "../base/time.ts";
import type { Config } from "../config/config.ts";
import { createUnwatched } from "../web/read/unwatched.ts";
import type { Alerting } from "./alerting.ts";
import type { Checking } from "./checking.ts";
import type { Ground, Part } from "./ground.ts";
import { createMaintenance } from "./maintenance.ts";
import type { Runtime } from "./runtime.ts";

/** The maintenance, the heartbeat and the health of a daemon. */
export type Upkeep = ReturnType<typeof createUpkeep>;

export function createUpkeep(ground: Ground, runtime: Runtime, { loops }: Alerting, checking: Checking) {
  const { bus, signal, stop } = ground;
  const { scheduler, fleet } = checking;
  /** Returns what has stalled, in words; nothing during a stop, so that nobody restarts a daemon that is ending. */
  const stalled = (): string[] => (signal.aborted ? [] : fleet.stalled({ scheduler, ...loops }));
  const settings = (): Config["heartbeat"] => runtime.current().config.heartbeat;
  const heartbeat = createHeartbeat(ground, settings, () => !fleet.isStoreAway() && stalled().length === 0);
  const maintenance = createMaintenance(ground, runtime.current);
  const unwatched = createUnwatched(ground, () => {
    const { config, slugs } = runtime.current();
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

// Shorter than any sensible interval.
const beatWithinMs = 10 * secondMs;
const maxAnswerBytes = 1_024;

/**
 * Creates the dead man's switch (CONTRACT 4, heartbeat): a GET every interval while flatline is alive. A failure is
 * only logged, because the other side notices the missing beat. Without a heartbeat it waits to be woken.
 */
function createHeartbeat(
  { clock, logger, dispatcher }: Ground,
  settings: () => Config["heartbeat"],
  isAlive: () => boolean,
) {
  const onError = (error: unknown): void => logger.error({ err: error }, "heartbeat failed, trying again");
  const loop = createLoop({ clock, everyMs: Infinity, runOnce, onError });

  async function runOnce(): Promise<number> {
    const heartbeat = settings();
    if (heartbeat !== null && isAlive()) await beat(heartbeat);
    return heartbeat?.intervalMs ?? Infinity;
  }

  async function beat({ url }: NonNullable<Config["heartbeat"]>): Promise<void> {
    const signal = clock.timeout(beatWithinMs, loop.signal);
    try {
      const request = { method: "GET", url: url.reveal(), headers: {}, signal, maxBodyBytes: maxAnswerBytes };
      const { status } = await sendRequest(dispatcher, request);
      if (status >= 300) logger.warn({ status }, "heartbeat was not accepted");
    } catch (error) {
      if (loop.signal.aborted) return;
      logger.warn({ error: redact(messageOf(error), [url]) }, "heartbeat could not be sent");
    }
  }

  return loop;
}
