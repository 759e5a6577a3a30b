import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { afterEach, beforeEach, expect, it } from "vitest";

import { secondMs } from "../../src/base/time.ts";
import type { App } from "../../src/daemon/create-app.ts";
import { openStore } from "../../src/store/open.ts";
import { createVirtualClock } from "../support/virtual-clock.ts";
import { createTestApp } from "../support/program/test-app.ts";
import { isLong } from "../support/tier.ts";

const startMs = Date.UTC(2026, 0, 15, 12, 0, 30);
const organizations = isLong ? 10_000 : 1_000;
const changing = organizations / 20;

let folder: string;
let app: App | null;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-fleet-"));
  app = null;
});
afterEach(async () => {
  await app?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Heap in use after a full collection, bytes. */
function heapBytes(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}

/** The fleet, of which some are others at each change. */
function listAt(change: number): string[] {
  return Array.from({ length: organizations }, (_, index) =>
    index < organizations - changing ? `stays-${index}` : `change-${change}-${index}`,
  );
}

it("loses no check and keeps its memory while a list changes every ten seconds for two minutes", async () => {
  const clock = createVirtualClock({ startMs });
  const list = join(folder, "list.json");
  await writeFile(list, JSON.stringify(listAt(0)));
  await writeFile(
    join(folder, "flatline.yaml"),
    `
source: { type: embedded }
discover: [{ name: crm, file: list.json, refreshInterval: 10s, organization: { schedule: "* * * * *" } }]
server: { listen: "127.0.0.1:0" }
storage: { path: flatline.db }
`,
  );
  app = await createTestApp(folder, { clock });
  await app.start();
  const url = app.address()?.url ?? "";
  const metrics = async () => (await fetch(`${url}/metrics`)).text();
  /** What is known of an organization that is in this list only; null: nothing. */
  const look = async (change: number) => {
    const slug = change === 0 ? `stays-0` : `change-${change}-${organizations - 1}`;
    const response = await fetch(`${url}/api/v1/checks/dead-asset-spike/${slug}`);
    return response.status === 200 ? response.text() : null;
  };
  const hasRun = async (change: number) => (await look(change))?.includes('"severity":"') === true;
  await clock.settleUntil(() => hasRun(0));
  let earlyBytes = 0;

  for (let change = 1; change <= 12; change++) {
    await writeFile(list, JSON.stringify(listAt(change)));
    await clock.advance(10 * secondMs);
    await clock.settleUntil(async () => (await look(change)) !== null);
    // New checks are gathered for a moment.
    await clock.advance(300);
    await clock.settleUntil(() => hasRun(change));
    if (change === 4) earlyBytes = heapBytes();
  }
  const grownBytes = heapBytes() - earlyBytes;
  const text = await metrics();
  await app.stop();

  const up = /^flatline_check_up\{check="dead-asset-spike",slug="([^"]*)"\}/gm;
  const runs = /^flatline_check_runs_total\{check="dead-asset-spike",slug="stays-\d+",outcome="\w+"\} (\d+)$/gm;
  const shown = new Set([...text.matchAll(up)].map(([, slug]) => slug));
  const total = [...text.matchAll(runs)].reduce((sum, [, count]) => sum + Number(count), 0);
  expect(shown).toEqual(new Set(listAt(12)));
  // At the start, and at each of the two minutes.
  expect(total).toBe(3 * (organizations - changing));
  expect(text).toMatch(/^flatline_check_skipped_total\{check="dead-asset-spike",reason="late"\} 0$/m);
  expect(grownBytes).toBeLessThan(20_000_000);
  const store = await openStore({ path: join(folder, "flatline.db"), clock });
  expect(await store.discovery.list("crm", "applied")).toHaveLength(organizations);
  await store.close();
}, 180_000);
