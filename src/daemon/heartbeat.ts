import { messageOf } from "../base/errors.ts";
import type { HttpDispatcher } from "../base/http-dispatcher.ts";
import { sendRequest } from "../base/http.ts";
import { createLoop, type Loop } from "../base/loop.ts";
import type { Logger } from "../base/logger.ts";
import { redact } from "../base/secret.ts";
import { secondMs, type Clock } from "../base/time.ts";
import type { HeartbeatConfig } from "../config/config.ts";

export interface HeartbeatOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly dispatcher: HttpDispatcher;
  /** Asked before each beat, so that a reload changes it; null: none. */
  readonly settings: () => HeartbeatConfig | null;
  /** The scheduler and the outbox tick. */
  readonly isAlive: () => boolean;
}

// A monitor of monitors has to answer at once; the timeout is shorter than any sensible interval.
const timeoutMs = 10 * secondMs;
const maxAnswerBytes = 1_024;

/**
 * Creates the dead man's switch (CONTRACT 4, heartbeat): a GET every interval while flatline is alive. Its failures are logged
 * and change nothing else: the far side notices the missing beat. Without one it waits to be woken.
 */
export function createHeartbeat({ clock, logger, dispatcher, settings, isAlive }: HeartbeatOptions): Loop {
  const loop = createLoop({ clock, everyMs: Infinity, runOnce, onError: note });

  async function beat({ url }: HeartbeatConfig): Promise<void> {
    const signal = clock.timeout(timeoutMs, loop.signal);
    try {
      const request = { method: "GET", url: url.reveal(), headers: {}, signal, maxBodyBytes: maxAnswerBytes };
      const { status } = await sendRequest(dispatcher, request);
      if (status >= 300) logger.warn({ status }, "heartbeat was not accepted");
    } catch (error) {
      if (loop.signal.aborted) return;
      const message = redact(messageOf(error), [url]);
      logger.warn({ error: message }, "heartbeat could not be sent");
    }
  }

  async function runOnce(): Promise<number> {
    const heartbeat = settings();
    if (heartbeat !== null && isAlive()) await beat(heartbeat);
    return heartbeat?.intervalMs ?? Infinity;
  }

  function note(error: unknown): void {
    logger.error({ err: error }, "heartbeat failed, trying again");
  }

  return loop;
}
