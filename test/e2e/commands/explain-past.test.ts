import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { dayMs, hourMs, minuteMs } from "../../../src/base/time.ts";
import { runCli, type CliOutcome } from "../../support/program/cli-run.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";

const bearer = { authorization: "Bearer a-token-of-the-tests", "content-type": "application/json" };

let folder: DaemonFolder;
let url: string;
let importedAtMs: number;
let hour: string;

const configured = (minSpikeCount: number): string => `
source: { type: embedded }
defaults: { schedule: "@yearly", thresholds: { minSpikeCount: ${minSpikeCount} } }
organizations: [acme]
receivers: [{ name: console, type: log }]
server: { listen: "127.0.0.1:0", token: a-token-of-the-tests }
storage: { path: flatline.db }
`;

beforeAll(async () => {
  folder = await makeDaemonFolder();
  await folder.configure(configured(10));
  const nowMs = Date.now();
  const deaths = [
    ...Array.from({ length: 9 * 24 }, (_, index) => ({ atMs: nowMs - index * hourMs, count: 1 })),
    { atMs: nowMs - 5 * hourMs, count: 200 },
  ];
  const rows = deaths.map(({ atMs, count }) => `${new Date(atMs - minuteMs).toISOString()},acme,${count}\n`);
  await writeFile(join(folder.path, "events.csv"), `at,slug,count\n${rows.join("")}`);
  importedAtMs = Date.now();
  expect((await flatline("import", "events", "events.csv")).exitCode).toBe(0);
  const app = await folder.start();
  url = app.address()?.url ?? "";
  hour = new Date(importedAtMs - hourMs).toISOString();
  await eventually(async () => (await flatline("explain", `acme@${hour}`)).exitCode !== 64);
});
afterAll(() => folder.close());

const flatline = (...args: string[]): Promise<CliOutcome> => runCli(args, { cwd: folder.path, env: {} });

interface Verdict {
  readonly match: string;
  readonly computedAt: string | null;
  readonly asKnownThen: { readonly currentCount: number };
}

async function explained(id: string): Promise<{ readonly exitCode: number; readonly verdict: Verdict }> {
  const { exitCode, stdout } = await flatline("explain", id, "--json");
  return { exitCode, verdict: (JSON.parse(stdout) as { verdict: Verdict }).verdict };
}

describe("explain of an hour before the first run, filled from imported events", () => {
  it("says that its verdict was computed afterwards, and is the same", async () => {
    const { exitCode, verdict } = await explained(`acme@${hour}`);

    expect(exitCode).toBe(0);
    expect(verdict).toMatchObject({ match: "same", note: null, stored: { severity: "fail" } });
    expect(Date.parse(verdict.computedAt ?? "")).toBeGreaterThanOrEqual(importedAtMs);
    const { stdout } = await flatline("explain", `acme@${hour}`);
    expect(stdout).toContain(
      `the same: it was computed afterwards, at ${verdict.computedAt ?? ""}, from what had come in by then`,
    );
  });

  it("says of a run that it was computed when it ran", async () => {
    const { exitCode, verdict } = await explained(`acme@${new Date().toISOString()}`);

    expect(exitCode).toBe(0);
    expect(verdict).toMatchObject({ match: "same", computedAt: null });
  });

  it("tells what was known then from what came in later", async () => {
    const late = { at: new Date(Date.parse(hour) - 2 * hourMs).toISOString(), slug: "acme", count: 40 };
    const posted = await fetch(`${url}/api/v1/events`, {
      method: "POST",
      headers: bearer,
      body: JSON.stringify([late]),
    });
    expect(posted.status).toBe(200);

    const { exitCode, verdict } = await explained(`acme@${hour}`);

    expect(exitCode).toBe(0);
    expect(verdict).toMatchObject({
      match: "same",
      asKnownNow: { currentCount: verdict.asKnownThen.currentCount + 40 },
    });
  });

  it("takes the thresholds of that time, not those of later", async () => {
    await folder.configure(configured(1_000));
    expect((await fetch(`${url}/-/reload`, { method: "POST", headers: bearer })).status).toBe(200);
    const run = await fetch(`${url}/api/v1/checks/dead-asset-spike/acme/run`, { method: "POST", headers: bearer });
    expect(run.status).toBe(200);

    const { exitCode, verdict } = await explained(`acme@${hour}`);

    expect(exitCode).toBe(0);
    expect(verdict).toMatchObject({ match: "same", stored: { severity: "fail" } });
  });

  it("finds out when its events are gone, with exit code 1", async () => {
    await folder.withStore(async (store) => {
      while ((await store.events.prune({ beforeMs: Date.now() - 2 * dayMs, maxRows: 1_000 })).hasMore);
    });

    const { exitCode, verdict } = await explained(`acme@${hour}`);

    expect(exitCode).toBe(1);
    expect(verdict).toMatchObject({ match: "different" });
  });
});
