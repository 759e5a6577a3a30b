import type { Dispatcher } from "undici";
import { sendRequest } from "../base/http.ts";
import type { Logger } from "../base/logger.ts";
import { redact } from "../base/secret.ts";
import { secondMs, type Clock } from "../base/time.ts";
import type { HeartbeatConfig } from "../config/config.ts";

/** The dead man's switch (CONTRACT 4, heartbeat): a GET every interval while flatline is alive, and silence when it is not. */
export interface Heartbeat {
  start(): void;
  stop(): Promise<void>;
}

export interface HeartbeatOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly dispatcher: Dispatcher;
  /** Asked before each beat, so that a reload changes it; null: none. */
  readonly settings: () => HeartbeatConfig | null;
  /** The scheduler and the outbox tick. */
  readonly isAlive: () => boolean;
}

// A monitor of monitors answers at once or is of no use; less than the shortest sensible interval.
const timeoutMs = 10 * secondMs;
// How soon a heartbeat that a reload brings begins.
const idleMs = 5 * secondMs;
const maxAnswerBytes = 1_024;

/** A heartbeat; its failures are logged and change nothing else: the far side notices the missing beat. */
export function createHeartbeat({ clock, logger, dispatcher, settings, isAlive }: HeartbeatOptions): Heartbeat {
  const stopping = new AbortController();
  let loop: Promise<void> = Promise.resolve();

  async function beat({ url }: HeartbeatConfig): Promise<void> {
    const signal = clock.timeout(timeoutMs, stopping.signal);
    try {
      const request = { method: "GET", url: url.reveal(), headers: {}, signal, maxBodyBytes: maxAnswerBytes };
      const { status } = await sendRequest(dispatcher, request);
      if (status >= 300) logger.warn({ status }, "heartbeat was not accepted");
    } catch (error) {
      if (stopping.signal.aborted) return;
      const message = redact(error instanceof Error ? error.message : String(error), [url]);
      logger.warn({ error: message }, "heartbeat could not be sent");
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const heartbeat = settings();
      if (heartbeat !== null && isAlive()) await beat(heartbeat);
      await clock.sleep(heartbeat?.intervalMs ?? idleMs, stopping.signal);
    }
  }

  return {
    start: () => {
      loop = run();
    },
    stop: async () => {
      stopping.abort();
      await loop;
    },
  };
}
