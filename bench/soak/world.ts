import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import type { Logger } from "../../src/base/logger.ts";
import { hourMs, minuteMs } from "../../src/base/time.ts";
import { createTestApp } from "../../test/support/program/test-app.ts";
import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { tempFolder } from "../processes.ts";

/** A daemon whose hours pass as fast as it can do their work, with everything around it that a daemon has. */
export interface SoakWorld {
  readonly folder: string;
  /**
   * Lives through the next five virtual minutes: events come in, every organization is checked once, somebody looks at it and
   * opens the gates that fails hold.
   */
  liveOn(): Promise<void>;
  /** Checks that were recorded so far. */
  checks(): number;
  /** Notifications that the receiver got so far. */
  notifications(): number;
  /** Warnings and errors of the log, by message. */
  complaints(): ReadonlyMap<string, number>;
}

// In small steps while checks are under way, so that no timeout of theirs passes before they had their turn.
const stepMs = 10;
const checksWithinMs = 60_000;
const roundMs = 5 * minuteMs;
const roundsAnHour = hourMs / roundMs;
// Within these every organization has spiked and every asset has died: whoever has not yet is growth that is none of a leak.
const cycleHours = 20;
// A fail that nobody decides about is kept for ever, with its alert.
const decidedAfterHours = 2;
const token = "of-the-soak";
// As short as they may be, so that both have to let go within the run.
const config = (slugs: readonly string[], sinkUrl: string): string => `
source: { type: embedded, concurrency: 256 }
defaults:
  schedule: "*/5 * * * *"
  thresholds: { windowHours: 1, baselineDays: 1, minSpikeCount: 20 }
  alert: { for: 0s, keepFiringFor: 0s }
organizations: [${slugs.join(", ")}]
alerting: { groupWait: 0s }
receivers: [{ name: ops, type: webhook, url: "${sinkUrl}" }]
server: { listen: "127.0.0.1:0", token: ${token} }
storage: { path: flatline.db, retention: 1h, eventRetention: 26h }
`;

/** Starts it; the store begins empty. */
export async function startSoakWorld(organizations: number, releases: AsyncDisposableStack): Promise<SoakWorld> {
  const folder = await tempFolder(releases);
  const slugs = Array.from({ length: organizations }, (_, index) => `org-${index}`);
  let notifications = 0;
  const sink = createServer((request, response) => {
    notifications++;
    request.resume().on("end", () => response.writeHead(204).end());
  });
  await new Promise<void>((resolve) => sink.listen(0, "127.0.0.1", resolve));
  releases.defer(async () => {
    sink.closeAllConnections();
    await new Promise((resolve) => sink.close(resolve));
  });
  await writeFile(
    join(folder, "flatline.yaml"),
    config(slugs, `http://127.0.0.1:${(sink.address() as AddressInfo).port}`),
  );
  const clock = createVirtualClock({ startMs: Math.ceil(Date.now() / hourMs) * hourMs });
  const counted = createCountingLogger();
  const given = { clock, random: Math.random, logger: counted.logger, withProcessMetrics: true };
  const app = await createTestApp(folder, given);
  releases.defer(async () => {
    const over = new AbortController();
    const stopped = app.stop().finally(() => over.abort());
    while (!over.signal.aborted) {
      await clock.advance(100);
      // What ends in real time, as the ingest thread does, must not be too late in virtual time.
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await stopped;
  });
  await app.start();
  const url = app.address()?.url ?? "";
  let rounds = 0;
  const spikesInHour = (index: number, hour: number): boolean => index % cycleHours === hour % cycleHours;

  /** One death of each organization, and sixty of every twentieth each hour. */
  async function postEvents(): Promise<void> {
    const at = clock.nowMs();
    const events = slugs.map((slug, index) => {
      const isSpike = rounds % roundsAnHour === 0 && spikesInHour(index, rounds / roundsAnHour);
      const asset = `${slug}/${rounds % (cycleHours * roundsAnHour)}`;
      return { at, slug, assetType: "URL", asset, count: isSpike ? 60 : 1 };
    });
    await request("/api/v1/events", events);
  }

  /** Opens the gates of those that spiked two hours ago. */
  async function decide(): Promise<void> {
    const hour = rounds / roundsAnHour - decidedAfterHours;
    if (rounds % roundsAnHour !== 0 || hour < 0) return;
    for (const slug of slugs.filter((_slug, index) => spikesInHour(index, hour)))
      await request(`/api/v1/gate/${slug}/release`, { comment: "looked at" });
  }

  async function request(path: string, body?: object): Promise<void> {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const sent = body === undefined ? {} : { method: "POST", headers, body: JSON.stringify(body) };
    const response = await fetch(`${url}${path}`, sent);
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`${path} was answered with ${response.status}`);
  }

  return {
    folder,
    liveOn: async () => {
      const wanted = counted.checks() + organizations;
      await Promise.all([postEvents(), clock.advanceTo(Math.floor(clock.nowMs() / roundMs + 1) * roundMs)]);
      const startedMs = performance.now();
      while (counted.checks() < wanted) {
        await clock.advance(stepMs);
        if (performance.now() - startedMs > checksWithinMs) throw new Error("not every organization was checked");
      }
      rounds++;
      for (const path of ["/metrics", "/api/v1/checks", "/"]) await request(path);
      await decide();
    },
    checks: counted.checks,
    notifications: () => notifications,
    complaints: () => counted.complaints,
  };
}

/** Counts what a log would hold, which is too much to keep. */
function createCountingLogger() {
  let checks = 0;
  const complaints = new Map<string, number>();
  const complain = (_fields: object, message: string): void => {
    // What `decide` does.
    if (message === "gate released by hand") return;
    complaints.set(message, (complaints.get(message) ?? 0) + 1);
  };
  const logger: Logger = {
    debug: (_fields, message) => {
      if (message === "check ran") checks++;
    },
    info: () => undefined,
    warn: complain,
    error: complain,
    child: () => logger,
  };
  return { logger, complaints, checks: () => checks };
}
