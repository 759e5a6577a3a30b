import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { hourMs } from "../../src/base/time.ts";
import { runCli, type CliOutcome } from "../support/cli-run.ts";
import { freePort, makeDaemonFolder, type DaemonFolder } from "../support/daemon.ts";
import { eventually } from "../support/program.ts";

const bearer = { authorization: "Bearer a-token-of-the-tests", "content-type": "application/json" };

let folder: DaemonFolder;
let url: string;

beforeAll(async () => {
  folder = await makeDaemonFolder();
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  await folder.configure(`
source: { type: embedded }
defaults: { schedule: "@yearly" }
organizations:
  - acme
  - { slug: globex, gate: { releaseOn: [] } }
  - { slug: silent, eventFlow: { enabled: true, schedule: "@yearly" }, alert: { for: 1h }, gate: { whenUnknown: hold } }
alerting: { groupWait: 0s, fleet: false }
server: { listen: "127.0.0.1:${port}", token: a-token-of-the-tests }
storage: { path: flatline.db }
`);
  await folder.addDeaths("acme", { lastHour: 90, perDay: 3 });
  await folder.addDeaths("globex", { lastHour: 90, perDay: 3 });
  await folder.start();
});
afterAll(() => folder.close());

interface Gate {
  readonly decision: string;
  readonly reason: string;
  readonly message: string;
  readonly alertId: string | null;
  readonly releases: readonly { readonly how: string; readonly by?: string | null }[];
}

async function ask(path: string, init: RequestInit = {}): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${url}${path}`, init);
  const text = await response.text();
  return { status: response.status, body: text === "" ? null : JSON.parse(text) };
}

const post = (path: string, body?: object) =>
  ask(path, { method: "POST", headers: bearer, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
const gateOf = async (slug: string): Promise<Gate> => (await ask(`/api/v1/gate/${slug}`)).body as Gate;
const flatline = (...args: string[]): Promise<CliOutcome> => runCli(args, { cwd: folder.path, env: { USER: "kim" } });

describe("GET /api/v1/gate/{slug}", () => {
  it("holds while a fail fires, and allows once somebody has acknowledged it", async () => {
    const held = await eventually(async () => {
      const gate = await gateOf("acme");
      return gate.reason === "fail_firing" ? gate : null;
    });
    expect(held).toMatchObject({ decision: "hold", releases: [] });
    expect(held.message).toContain("act on none of its deaths");

    await post(`/api/v1/alerts/${held.alertId ?? ""}/ack`, { by: "kim" });

    expect(await gateOf("acme")).toMatchObject({
      decision: "allow",
      reason: "released",
      releases: [{ how: "acknowledged" }],
    });
  });

  it("can be released by hand, which needs the token and a reason, and is recorded", async () => {
    const held = await eventually(async () => {
      const gate = await gateOf("globex");
      return gate.decision === "hold" ? gate : null;
    });
    await post(`/api/v1/alerts/${held.alertId ?? ""}/ack`, {});
    const still = await gateOf("globex");
    expect(still.decision).toBe("hold");
    expect(still.message).toContain("act on none of its deaths until it is released");
    expect((await ask("/api/v1/gate/globex/release", { method: "POST" })).status).toBe(401);
    expect((await post("/api/v1/gate/globex/release", { comment: " " })).status).toBe(400);

    const released = await post("/api/v1/gate/globex/release", { by: "kim", comment: "checked by hand" });

    expect(released.body).toMatchObject({ decision: "allow", releases: [{ how: "released", by: "token" }] });
    expect((await gateOf("globex")).releases[0]).not.toHaveProperty("by");
  });

  it("answers as configured while nothing is known, and 404 for a stranger", async () => {
    await eventually(async () => (await gateOf("silent")).reason === "unknown");
    expect(await gateOf("silent")).toMatchObject({ decision: "hold" });
    expect((await ask("/api/v1/gate/nobody")).status).toBe(404);
  });
});

describe("markers", () => {
  it("are made, listed and deleted by the command line and by HTTP", async () => {
    const added = await flatline(
      "marker",
      "add",
      "captcha rollout",
      "--at",
      new Date(Date.now() - hourMs).toISOString(),
    );
    expect(added.exitCode).toBe(0);
    expect(added.stdout).toMatch(/^\S+: «captcha rollout» at \d{4}-/);
    const made = await post("/api/v1/markers", { text: "checker 4.2", slug: "acme", createdBy: "ci" });
    expect(made).toMatchObject({
      status: 201,
      body: { text: "checker 4.2", slug: "acme", createdBy: "token", note: "ci" },
    });

    const listed = JSON.parse((await flatline("marker", "list", "--json")).stdout) as { id: string; text: string }[];
    expect(listed.map(({ text }) => text)).toEqual(["captcha rollout", "checker 4.2"]);
    const ofGlobex = (await ask("/api/v1/markers?slug=globex")).body as { text: string }[];
    expect(ofGlobex.map(({ text }) => text)).toEqual(["captcha rollout"]);
    expect(ofGlobex[0]).not.toHaveProperty("createdBy");

    expect((await flatline("marker", "remove", listed[0]?.id ?? "")).exitCode).toBe(0);
    expect((await flatline("marker", "remove", listed[0]?.id ?? "")).exitCode).toBe(1);
  });

  it.each([
    ["no text", { text: "  " }, "text: is empty"],
    ["a time without an offset", { text: "x", at: "2026-01-01T00:00:00" }, "at: must be a time"],
    ["the future", { text: "x", at: "2999-01-01T00:00:00Z" }, "at: is in the future"],
    ["an unknown field", { text: "x", when: "now" }, "when"],
  ])("refuses %s", async (_what, body, issue) => {
    const { status, body: answered } = await post("/api/v1/markers", body);

    expect(status).toBe(400);
    expect(JSON.stringify(answered)).toContain(issue);
  });
});
