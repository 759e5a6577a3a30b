import { randomBytes } from "node:crypto";

import { FlatlineError } from "../base/errors.ts";
import { Secret } from "../base/secret.ts";
import type { Config } from "../config/config.ts";
import type { Web } from "../web/web.ts";
import { startApp, type Running } from "./app.ts";
import type { AppDeps } from "./ground.ts";
import type { DoorOptions } from "./parts.ts";
import { createStopSequence, stopAll } from "./stop-sequence.ts";

/** The routes of a daemon in this process, over a store that no other process has. */
export interface Door {
  readonly inject: Web["inject"];
  readonly importTarget: Running["importTarget"];
  /** What lets the command do everything. */
  readonly token: Secret;
  /** Never rejects. */
  close(): Promise<void>;
}

/** Opens the door of the configured store. @throws store_busy while another process has it, no_input, and as startApp does */
export async function openDoor(config: Config, deps: Omit<AppDeps, "readConfig">, door: DoorOptions): Promise<Door> {
  const sequence = createStopSequence();
  const token = new Secret(randomBytes(32).toString("base64url"));
  const close = async (): Promise<void> => void (await stopAll(sequence, { ...deps, drainMs: 0 }));
  const unknown = (): never => {
    throw new FlatlineError("unavailable", "flatline is not running");
  };
  const signal = deps.signal ?? new AbortController().signal;
  const all = { ...deps, signal, door, localToken: token, readConfig: async () => config, withProcessMetrics: false };
  try {
    const { inject, importTarget } = await startApp(config, all, sequence, unknown);
    return { inject, importTarget, token, close };
  } catch (error) {
    await close();
    throw error;
  }
}
