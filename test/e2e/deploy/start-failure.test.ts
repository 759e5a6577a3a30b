import { describe, expect, it } from "vitest";

import { secondMs } from "../../../src/base/time.ts";
import { makeProgramFolder } from "../../support/program/program-folder.ts";
import { startDaemon, startProgram } from "../../support/program/program.ts";

const endsWithinMs = 14 * secondMs;

describe("a daemon that cannot start", () => {
  it("ends with 65 when its preload is broken, and stores nothing of it", async () => {
    await using folder = await makeProgramFolder(`
source: { type: embedded, preload: [{ events: events.csv }] }
organizations: [acme]
server: { listen: "127.0.0.1:0" }
storage: { path: flatline.db }
`);
    await folder.write("events.csv", "at,slug\n2026-01-01T00:00:00Z,acme\nnever,acme\n");

    await using daemon = startProgram(["run"], { cwd: folder.path });
    const { exitCode, stderr } = await daemon.ended(endsWithinMs);

    expect(exitCode).toBe(65);
    expect(stderr).toContain("events.csv:3:");
    expect(stderr).not.toMatch(/^\s+at /m);

    await folder.write("events.csv", "at,slug\n2026-01-01T00:00:00Z,acme\n");
    await using mended = startProgram(["run"], { cwd: folder.path });
    const line = await mended.untilLogged("events preloaded");
    expect(line).toMatchObject({ events: 1 });
  });

  it("ends with 75 and says who has the store", async () => {
    await using folder = await makeProgramFolder(`
source: { type: embedded }
organizations: [acme]
server: { listen: "127.0.0.1:0" }
storage: { path: flatline.db }
`);
    await using first = await startDaemon([], { cwd: folder.path });

    await using second = startProgram(["run"], { cwd: folder.path });
    const { exitCode, stderr } = await second.ended(endsWithinMs);

    expect(exitCode).toBe(75);
    expect(stderr).toMatch(
      /^flatline: process \d+ on \S+ writes to the store \S+: stop it, or give this one a store of its own\n$/,
    );
    expect((await fetch(`${first.url}/-/healthy`)).status).toBe(200);
  });
});
