import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { describe, expect, it } from "vitest";

import { createSystemClock, secondMs } from "../../../src/base/time.ts";
import { makeProgramFolder } from "../../support/program/program-folder.ts";
import { startDaemon, type Daemon } from "../../support/program/program.ts";

const token = "a-token-of-the-tests";
const clock = createSystemClock();

/** Posts one death. */
function post(daemon: Daemon): Promise<Response> {
  return fetch(`${daemon.url}/api/v1/events`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify([{ at: clock.nowMs(), slug: "acme" }]),
  });
}

describe("a post of events that meets an import", () => {
  it("waits for 5 s, is answered with 503 and Retry-After, and is stored when it comes again", async () => {
    await using folder = await makeProgramFolder(`
source: { type: embedded }
organizations: [acme]
server: { listen: "127.0.0.1:0", token: ${token} }
storage: { path: flatline.db }
`);
    await using daemon = await startDaemon([], { cwd: folder.path });
    // The lock of an import that takes long.
    const importing = new DatabaseSync(join(folder.path, "flatline-events.db"), { timeout: 10 * secondMs });
    importing.exec("begin immediate");

    const startedAtMs = clock.monotonicMs();
    const refused = await post(daemon);
    const waitedMs = clock.monotonicMs() - startedAtMs;
    importing.exec("rollback");
    importing.close();

    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await refused.text()).toContain("another process stores events");
    expect(waitedMs).toBeGreaterThan(4_500);
    expect(await (await post(daemon)).json()).toMatchObject({ received: 1, stored: 1 });
  });
});
