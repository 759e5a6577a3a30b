import { join } from "node:path";

import { createSystemClock, hourMs, minuteMs } from "../../../src/base/time.ts";
import { runProgram } from "../program/program.ts";
import type { ProgramFolder } from "../program/program-folder.ts";

/** Thresholds under which one death more than expected fails, and 24 more of yesterday make that ok again. */
export const flipThresholds =
  "{ windowHours: 1, baselineDays: 1, warnMultiplier: 1, failMultiplier: 1, minSpikeCount: 1 }";

export interface FlipLoadOptions {
  readonly folder: ProgramFolder;
  readonly slugs: readonly string[];
  readonly token: string;
  /** Where the daemon listens; null while there is none. */
  readonly url: () => string | null;
  /** 0 ≤ x < 1 */
  readonly random: () => number;
  /** Between two flips. */
  readonly pauseMs: number;
}

/** Somebody who posts and imports events, whatever happens to the daemon. */
export interface FlipLoad {
  /** Ends with the flip that is under way taken. */
  stop(): Promise<void>;
  /** What each organization must come to. */
  readonly severities: ReadonlyMap<string, "ok" | "fail">;
  /** How many flips were taken, by way. */
  readonly taken: Readonly<Record<"posted" | "imported", number>>;
}

const clock = createSystemClock();
// An import is a process of its own: most flips are posted.
const importShare = 0.1;

/** Flips organizations between ok and fail by events, each repeated under its id until it is taken. */
export function startFlipLoad(options: FlipLoadOptions): FlipLoad {
  const { folder, slugs, token, url, random, pauseMs } = options;
  const stopping = new AbortController();
  const severities = new Map<string, "ok" | "fail">();
  const taken = { posted: 0, imported: 0 };

  async function post(line: string): Promise<boolean> {
    const address = url();
    if (address === null) return false;
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" };
    try {
      const response = await fetch(`${address}/api/v1/events`, { method: "POST", headers, body: line });
      const text = await response.text();
      if (response.status !== 200 && response.status !== 503) throw new Error(`${response.status} ${text}`);
      return response.status === 200;
    } catch (error) {
      // The daemon was killed under it.
      if (error instanceof TypeError) return false;
      throw error;
    }
  }

  async function importLine(line: string): Promise<boolean> {
    await folder.write("flip.ndjson", line);
    const path = join(folder.path, "flip.ndjson");
    const address = url();
    // The port is the system's choice: who asks has to be told.
    const asked = address === null ? [] : ["--url", address];
    const { exitCode, stderr } = await runProgram(["import", "events", path, ...asked], { cwd: folder.path });
    // The daemon, which it asks, was killed under it, or has just taken the store.
    if (exitCode === 69 || exitCode === 75) return false;
    if (exitCode !== 0) throw new Error(`import: exit ${exitCode}: ${stderr}`);
    return true;
  }

  async function flip(number: number): Promise<void> {
    const slug = slugs[Math.floor(random() * slugs.length)] ?? "";
    const wasFail = severities.get(slug) === "fail";
    const at = new Date(clock.nowMs() - (wasFail ? 12 * hourMs : minuteMs)).toISOString();
    const line = `${JSON.stringify({ at, slug, id: `flip-${number}`, count: wasFail ? 24 : 1 })}\n`;
    if (random() < importShare) {
      while (!(await importLine(line))) await clock.sleep(50);
      taken.imported++;
    } else {
      while (!(await post(line))) await clock.sleep(50);
      taken.posted++;
    }
    severities.set(slug, wasFail ? "ok" : "fail");
  }

  async function run(): Promise<void> {
    for (let number = 0; !stopping.signal.aborted; number++) {
      await flip(number);
      await clock.sleep(pauseMs, stopping.signal);
    }
  }

  const ended = run();
  // Told by stop(): until then nobody waits for it.
  ended.catch(() => undefined);
  return {
    severities,
    taken,
    stop: async () => {
      stopping.abort();
      await ended;
    },
  };
}
