import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { expect, it } from "vitest";

import { pointsOf } from "../../support/program/run-process.ts";
import { createSystemClock, secondMs } from "../../../src/base/time.ts";
import { seededRandom } from "../../../src/look/plan.ts";
import { openStore } from "../../../src/store/open.ts";
import { Board } from "../../../src/store/runs/board.ts";
import type { Store } from "../../../src/store/store.ts";
import { parseExposition, seriesValue } from "../../support/exposition-parser.ts";
import { flipThresholds, startFlipLoad } from "../../support/store/flip-load.ts";
import { startHttpSink } from "../../support/far-side/http-sink.ts";
import { makeProgramFolder } from "../../support/program/program-folder.ts";
import { eventually, readText, startDaemon, startProgram } from "../../support/program/program.ts";
import { readSentAlerts } from "../../support/sent-alerts.ts";
import { isLong } from "../../support/tier.ts";

const kills = isLong ? 200 : 4;
const check = "dead-asset-spike";
const token = "a-token-of-the-tests";
const slugs = ["acme", "globex", "initech", "umbrella", "hooli", "wonka"];
const clock = createSystemClock();
const whole = { check, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER } as const;

function configText(hook: string): string {
  return `
source: { type: embedded }
defaults:
  schedule: "* * * * * *"
  thresholds: ${flipThresholds}
  alert: { repeatInterval: 0s }
  whenNoEvents: ok
organizations: [${slugs.join(", ")}]
alerting: { groupWait: 0s, groupInterval: 1s, fleet: false }
receivers: [{ name: ops, type: webhook, url: "${hook}", timeout: 500ms }]
server: { listen: "127.0.0.1:0", token: ${token} }
storage: { path: flatline.db }
`;
}

async function withStore<Result>(path: string, look: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openStore({ path, clock });
  try {
    return await look(store);
  } finally {
    await store.close();
  }
}

function integrity(path: string): unknown[] {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 10 * secondMs });
  try {
    return database.prepare("pragma integrity_check").all();
  } finally {
    database.close();
  }
}

/** State, history and alerts of each organization are of one and the same run. */
async function expectWhole(path: string): Promise<void> {
  expect(integrity(path)).toEqual([{ integrity_check: "ok" }]);
  await withStore(path, async (store) => {
    const board = new Board();
    board.learn(await store.runs.load());
    for (const slug of slugs) {
      const state = board.state(check, slug);
      const points = await pointsOf(store.runs, { ...whole, slug });
      const live = await store.alerts.liveOf([{ check, slug }]);

      expect(points.at(-1)?.atMs ?? null, `${slug}: last point of the history`).toBe(
        state?.lastReport?.finishedAtMs ?? null,
      );
      expect(points.at(-1)?.severity ?? null).toBe(state?.severity ?? null);
      expect(new Set(points.map(({ atMs }) => atMs)).size, `${slug}: a run twice`).toBe(points.length);
      expect(live.map(({ severity }) => severity)).toEqual(state?.severity === "fail" ? ["fail"] : []);
    }
  });
}

it(
  `a daemon that is killed ${kills} times under load loses no firing, tells none twice and tears nothing`,
  { timeout: kills * 30_000 + 90_000 },
  async () => {
    const random = seededRandom("kills");
    // Late, refused, and taken without an answer: then the daemon cannot know.
    const sink = await startHttpSink((response, _request, index) => {
      if (index % 7 === 3) response.writeHead(503).end();
      else if (index % 11 === 5) response.destroy();
      else void clock.sleep(40 * random()).then(() => response.end("ok"));
    });
    await using folder = await makeProgramFolder(configText(sink.url));
    const path = join(folder.path, "flatline.db");
    let url: string | null = null;
    const load = startFlipLoad({ folder, slugs, token, url: () => url, random, pauseMs: 100 });

    const startedAtMs = clock.monotonicMs();
    await (await startDaemon([], { cwd: folder.path })).kill();
    const startMs = clock.monotonicMs() - startedAtMs;
    for (let kill = 0; kill < kills; kill++) {
      // From amid the start to amid some seconds of work, however slow the machine is.
      const livesForMs = startMs / 2 + random() * (startMs * 2 + 1.5 * secondMs);
      await using daemon = startProgram(["run"], { cwd: folder.path });
      const listening = daemon.untilLogged("flatline started").then((line) => (url = String(line["url"])));
      listening.catch(() => undefined);
      await clock.sleep(livesForMs);
      await daemon.kill();
      url = null;
      if (hasTables(path)) await expectWhole(path);
    }

    await using last = await startDaemon([], { cwd: folder.path });
    url = last.url;
    await eventually(() => load.taken.imported > 0, 120_000);
    await load.stop();
    await eventually(async () => {
      const metrics = parseExposition(await readText(`${last.url}/metrics`));
      const isSettled = [...load.severities].every(
        ([slug, severity]) => seriesValue(metrics, "flatline_check_severity", { slug, severity }) === 1,
      );
      return isSettled && seriesValue(metrics, "flatline_outbox_pending", { receiver: "ops" }) === 0;
    }, 60_000);
    // Beyond the group interval: what was decided last has been told too.
    await clock.sleep(2 * secondMs);
    await eventually(async () => {
      const metrics = parseExposition(await readText(`${last.url}/metrics`));
      return seriesValue(metrics, "flatline_outbox_pending", { receiver: "ops" }) === 0;
    }, 30_000);
    last.signal("SIGTERM");
    expect((await last.ended()).exitCode).toBe(0);
    await expectWhole(path);

    const told = readSentAlerts(sink.requests);
    const happened = await withStore(path, async (store) => {
      const ended = await store.alerts.ended({ fromMs: 0, limit: 100_000 });
      const live = await store.alerts.allLive();
      return new Map<string, string[]>([
        ...ended.map((alert): [string, string[]] => [alert.id, ["firing", "resolved"]]),
        ...live.map(({ id }): [string, string[]] => [id, ["firing"]]),
      ]);
    });
    for (const [alertId, events] of told) expect(events, `what was told of ${alertId}`).toEqual(happened.get(alertId));
    // What ended before it was due is no message: the process may have been down.
    for (const [alertId, events] of happened) if (events.length === 1) expect(told.has(alertId), alertId).toBe(true);
    expect(told.size).toBeGreaterThanOrEqual(kills / 5);
    // That there was something to lose; how much depends on the machine's other work.
    expect(happened.size).toBeGreaterThanOrEqual(kills / 5);
    expect(load.taken.posted).toBeGreaterThanOrEqual(kills / 5);
    await sink.close();
  },
);

/** Whether a daemon lived long enough to make its database. */
function hasTables(path: string): boolean {
  if (!existsSync(path)) return false;
  const database = new DatabaseSync(path, { readOnly: true, timeout: 10 * secondMs });
  try {
    return database.prepare("select 1 from sqlite_schema where name = 'outbox'").all().length > 0;
  } finally {
    database.close();
  }
}
