import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, expect, it } from "vitest";

import { runCli } from "../../support/program/cli-run.ts";
import { freePort } from "../../support/free-port.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";

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
alerting: { groupWait: 0s, fleet: false }
server:
  listen: "127.0.0.1:${port}"
  tokens:
    - { name: operator, token: operator-secret, may: [read, operate] }
    - { name: lead, token: lead-secret, may: [read, operate, gate, admin] }
storage: { path: flatline.db }
`);
  await folder.addDeaths("acme", { lastHour: 90, perDay: 3 });
  await folder.start();
});
afterAll(() => folder.close());

async function ask(name: "operator" | "lead", path: string, body?: object): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${name}-secret`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

async function heldAlert(slug: string): Promise<string> {
  return eventually(async () => {
    const { body } = await ask("lead", `/api/v1/gate/${slug}`);
    const { reason, alertId } = body as { reason: string; alertId: string | null };
    return reason === "fail_firing" ? alertId : null;
  });
}

/** Everything that an act on the alert leaves behind, but for the clock. */
async function traces(slug: string, alertId: string): Promise<object> {
  const gate = (await ask("lead", `/api/v1/gate/${slug}`)).body;
  const alert = (await ask("lead", `/api/v1/alerts/${alertId}`)).body;
  const audit = (await ask("lead", "/api/v1/audit")).body;
  const judged = (await (await fetch(`${url}/metrics`, { headers: { authorization: "Bearer lead-secret" } })).text())
    .split("\n")
    .filter((line) => /^flatline_(?:alerts_judged_total|gate_held\{)/.test(line));
  return { gate, alert, audit, judged };
}

const noRight = 'the token "operator" has no right to do this: it needs "gate" in its `may`';

it.each([
  ["the judgement real", { verdict: "real", comment: "ten opened by hand" }],
  ["the judgement checker, which opens nothing", { verdict: "checker" }],
])("%s of a token without the right gate is 403, and nothing of it is stored", async (_act, body) => {
  const id = await heldAlert("acme");
  const before = await traces("acme", id);

  const refused = await ask("operator", `/api/v1/alerts/${id}/judgement`, body);

  expect(refused).toMatchObject({ status: 403, body: { code: "FORBIDDEN", message: noRight } });
  expect(await traces("acme", id)).toEqual(before);
  expect(before).toMatchObject({ gate: { decision: "hold", releases: [] }, alert: { judgements: [], comments: [] } });
});

it("a command with such a token is exit 77, and says what is missing and no more", async () => {
  const id = await heldAlert("acme");
  const text = "organizations: [acme]\nsource: { type: embedded }\nserver: { token: operator-secret }\n";
  await writeFile(join(folder.path, "operator.yaml"), text);
  const withToken = ["-c", "operator.yaml", "--url", url];

  const judged = await runCli(["alerts", "judge", id, "real", ...withToken], { cwd: folder.path });
  const released = await runCli(["gate", "release", "acme", "--comment", "x", "--yes", ...withToken], {
    cwd: folder.path,
  });

  for (const refused of [judged, released])
    expect([refused.exitCode, refused.stderr]).toEqual([77, `flatline: ${noRight}\n`]);
});
