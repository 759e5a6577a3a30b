import { beforeAll, describe, expect, it } from "vitest";

import { hourMs } from "../../../src/base/time.ts";
import { runCli, type CliOutcome } from "../../support/program/cli-run.ts";
import { useDaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";

const bearer = { authorization: "Bearer a-token-of-the-tests", "content-type": "application/json" };

const folder = useDaemonFolder();

beforeAll(async () => {
  await folder.configure(`
defaults: { schedule: "@yearly" }
organizations:
  - acme
  - { slug: globex, gate: { releaseOn: [] } }
  - { slug: silent, eventFlow: { enabled: true, schedule: "@yearly" }, alert: { for: 1h }, gate: { whenUnknown: hold } }
alerting: { groupWait: 0s, fleet: false }
server: { listen: "${folder.listen}", token: a-token-of-the-tests }
`);
  await folder.addDeaths("acme", { lastHour: 90, perDay: 3 });
  await folder.addDeaths("globex", { lastHour: 90, perDay: 3 });
  await folder.addDeaths("silent", { lastHour: 0, perDay: 1 });
  await folder.start();
});

interface Gate {
  readonly decision: string;
  readonly reason: string;
  readonly message: string;
  readonly alertId: string | null;
  readonly since: string | null;
  readonly suspectFrom: string | null;
  readonly releases: readonly { readonly how: string; readonly by?: string | null }[];
}

async function ask(path: string, init: RequestInit = {}): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${folder.url}${path}`, init);
  const text = await response.text();
  return { status: response.status, body: text === "" ? null : JSON.parse(text) };
}

const post = (path: string, body?: object) =>
  ask(path, { method: "POST", headers: bearer, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
/** The value of a series of /metrics; null: it is absent. */
async function metricOf(series: string): Promise<number | null> {
  const lines = (await (await fetch(`${folder.url}/metrics`)).text()).split("\n");
  const line = lines.find((one) => one.startsWith(`${series} `));
  return line === undefined ? null : Number(line.slice(series.length));
}
const gateOf = async (slug: string): Promise<Gate> => (await ask(`/api/v1/gate/${slug}`)).body as Gate;
const flatline = (...args: string[]): Promise<CliOutcome> => runCli(args, { cwd: folder.path, env: { USER: "kim" } });

describe("GET /api/v1/gate/{slug}", () => {
  const held = (slug: string): Promise<Gate> =>
    eventually(async () => {
      const gate = await gateOf(slug);
      return gate.reason === "fail_firing" ? gate : null;
    });

  it("holds while a fail fires, acknowledged or not, and allows once somebody has judged it", async () => {
    const gate = await held("acme");
    const id = gate.alertId ?? "";
    expect(gate).toMatchObject({ decision: "hold", releases: [], suspectFrom: expect.stringMatching(/Z$/) });
    expect(gate.message).toContain("act on none of its deaths until it is judged or released");
    expect(await flatline("gate", "acme")).toMatchObject({ exitCode: 1, stdout: expect.stringContaining("hold") });
    expect(await metricOf('flatline_gate_held{slug="acme"}')).toBe(1);
    expect(await metricOf('flatline_gate_held{slug="silent"}')).toBe(0);
    const heldSince = await metricOf('flatline_gate_held_since_timestamp_seconds{slug="acme"}');
    expect(heldSince).toBe(Date.parse(gate.since ?? "") / 1_000);

    await post(`/api/v1/alerts/${id}/ack`, { by: "kim" });
    expect(await gateOf("acme")).toMatchObject({ decision: "hold", reason: "fail_firing" });
    const incident = ((await ask(`/api/v1/alerts/${id}`)).body as { incidentId: string }).incidentId;
    const real = ["real", "--slug", "acme", "--yes", "--comment", "ten opened by hand"];
    const judged = await flatline("incidents", "judge", incident, ...real);

    expect(judged).toMatchObject({
      exitCode: 0,
      stdout: "judged real: 1 organization\ntakedowns allowed again: acme\n",
    });
    expect(await gateOf("acme")).toMatchObject({
      decision: "allow",
      reason: "released",
      suspectFrom: null,
      releases: [{ how: "judged", alertId: id }],
    });
    expect(await flatline("gate", "acme")).toMatchObject({ exitCode: 0 });
    expect(await metricOf('flatline_gate_held{slug="acme"}')).toBe(0);
    expect(await metricOf('flatline_gate_held_since_timestamp_seconds{slug="acme"}')).toBeNull();
    expect((await flatline("incidents", "show", incident)).stdout).toMatch(/ \(token\): ten opened by hand/);
    expect((await flatline("incidents", "judge", incident, "none", "--slug", "acme")).exitCode).toBe(0);
    expect(await gateOf("acme")).toMatchObject({ decision: "hold", reason: "fail_firing" });
  });

  it("has exit codes of its own for what is neither allow nor hold", async () => {
    expect(await flatline("gate", "nobody")).toMatchObject({ exitCode: 64, stdout: "" });
    expect(await flatline("gate", "acme", "--url", "http://127.0.0.1:1")).toMatchObject({ exitCode: 69, stdout: "" });
    expect(await flatline("gate", "release", "--comment", "x")).toMatchObject({ exitCode: 64 });
    expect(await flatline("gate", "release", "acme")).toMatchObject({ exitCode: 64 });
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

  it("is listed with the others that hold, the worst first, and what opens each", async () => {
    await eventually(async () => (await gateOf("silent")).reason === "unknown");

    const listed = await flatline("gate");
    const json = JSON.parse((await flatline("gate", "--json")).stdout) as { gates: Gate[]; open: number };

    expect(listed.exitCode).toBe(1);
    expect(listed.stdout).toMatch(
      /^ORGANIZATION {2}DECISION {2}SINCE +WHY\nacme +hold +\S+Z {2}dead-asset-spike fires as fail\nsilent +hold +– +nothing is known\n1 other may act\n$/,
    );
    expect(json.gates.map(({ reason }) => reason)).toEqual(["fail_firing", "unknown"]);
    expect(json.open).toBe(1);
    expect(await flatline("gate", "--url", "http://127.0.0.1:1")).toMatchObject({ exitCode: 69, stdout: "" });
  });

  it("is released by a command that asks before, of those that are named", async () => {
    const args = ["gate", "release", "acme", "silent", "nobody", "--comment", "the checker is mended"];
    const typed = (text: string): Promise<CliOutcome> => runCli(args, { cwd: folder.path, typed: text });
    const question = "Open the gate of acme? What takedown pipelines then do, flatline cannot undo. [y/N] ";

    const unasked = await flatline(...args);
    const refused = await typed("\n");

    expect([unasked.exitCode, unasked.stdout]).toEqual([64, ""]);
    expect(unasked.stderr).toContain("there is no terminal to ask on: nothing was done");
    expect([refused.exitCode, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toBe(`${question}nothing was done\n`);
    expect(await gateOf("acme")).toMatchObject({ decision: "hold" });

    const released = await typed("y\n");

    expect([released.exitCode, released.stdout]).toEqual([64, expect.stringMatching(/^acme: allow \(released\)/)]);
    expect(released.stderr.slice(question.length)).toMatch(/^flatline: nobody: [^\n]+\n$/);
    expect(await flatline("gate", "release", "acme", "--comment", "x")).toMatchObject({ exitCode: 0, stderr: "" });
  });

  it("says of deaths that may be acted on again that they are judged checker", async () => {
    const { alertId } = await gateOf("acme");
    const { incidentId } = (await ask(`/api/v1/alerts/${alertId ?? ""}`)).body as { incidentId: string };
    await flatline("incidents", "judge", incidentId, "checker", "--slug", "acme");
    await flatline("gate", "release", "acme", "--comment", "all are reopened", "--yes");

    const { exitCode, stdout } = await flatline("gate", "acme");

    expect([exitCode, stdout]).toEqual([
      0,
      expect.stringMatching(/^acme: allow \(released\): .*; deaths from \S+Z on are judged checker\n$/),
    ]);
  });
});

describe("markers", () => {
  it("are made, listed and deleted by the command line and by HTTP", async () => {
    const at = new Date(Date.now() - hourMs).toISOString();
    const added = await flatline("marker", "add", "captcha rollout", "--at", at);
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
    expect((await flatline("marker", "remove", listed[0]?.id ?? "")).exitCode).toBe(64);
  });
});
