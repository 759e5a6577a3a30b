import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";

let folder: DaemonFolder;
let url: string;

beforeAll(async () => {
  folder = await makeDaemonFolder();
  await folder.configure(`
source: { type: embedded }
defaults: { schedule: "@yearly" }
organizations: [acme, globex]
receivers: [{ name: ops, type: log }]
alerting: { groupWait: 0s }
server:
  listen: "127.0.0.1:0"
  token: root-secret-of-the-tests
storage: { path: flatline.db }
`);
  await folder.addDeaths("acme", { lastHour: 90, perDay: 3 });
  await folder.addDeaths("globex", { lastHour: 3, perDay: 3 });
  await folder.addDeaths("acme-eu", { lastHour: 1, perDay: 1 });
  url = (await folder.start()).address()?.url ?? "";
  await eventually(async () => (((await status(null))["alerts"] as { firing: number }).firing === 1 ? true : null));
});
afterAll(() => folder.close());

async function status(secret: string | null): Promise<Record<string, unknown>> {
  const headers = secret === null ? {} : { authorization: `Bearer ${secret}` };
  const answer = await fetch(`${url}/api/v1/status`, { headers });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Record<string, unknown>;
}

describe("GET /api/v1/status", () => {
  it("says what the overview says, what is held and how the receivers are", async () => {
    expect(await status("root-secret-of-the-tests")).toMatchObject({
      sentence: expect.stringMatching(/^acme: 90 deaths in 24 h, 3\.0 expected \(30\.0×\)\. The other one is ok\.$/),
      severity: "fail",
      organizations: 2,
      severities: { fail: 1, unknown: 0, warn: 0, ok: 1 },
      alerts: { firing: 1, acknowledged: 0, pending: 0, silenced: 0 },
      unattended: 1,
      gate: { held: 1, longest: { slug: "acme" } },
      runs: { checks: 2, late: 0 },
      store: { problem: null },
      receivers: [{ name: "ops", state: "ok" }],
      unwatched: ["acme-eu"],
    });
  });

  it("leaves receivers and unwatched slugs out without a token", async () => {
    const shown = await status(null);

    expect(shown).toMatchObject({ organizations: 2 });
    expect(shown).not.toHaveProperty("receivers");
    expect(shown).not.toHaveProperty("unwatched");
  });
});
