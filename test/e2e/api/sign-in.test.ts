import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { freePort } from "../../support/free-port.ts";
import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import { startDaemon, type Daemon } from "../../support/program/program.ts";

const tokens = { root: "a-token-of-the-tests", ops: "another-token-of-the-tests" };
const sameOrigin = { "sec-fetch-site": "same-origin" };

let folder: ProgramFolder;
// The cookie is of one port, also after a restart.
let port: number;
let daemons: Daemon[] = [];

afterEach(async () => {
  for (const daemon of daemons) await daemon.kill();
  daemons = [];
  await folder[Symbol.asyncDispose]();
});

async function start(): Promise<Daemon> {
  const daemon = await startDaemon([], { cwd: folder.path });
  daemons.push(daemon);
  return daemon;
}

function configure(ops: string): string {
  return `
source: { type: embedded }
defaults: { schedule: "@yearly", whenNoEvents: ok }
organizations: [acme, globex]
server:
  listen: "127.0.0.1:${port}"
  token: ${tokens.root}
  tokens: [{ name: ops, token: ${ops}, may: [operate] }]
storage: { path: flatline.db }
`;
}

function post(
  { url }: Daemon,
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = sameOrigin,
): Promise<Response> {
  return fetch(url + path, { method: "POST", redirect: "manual", headers, body: new URLSearchParams(fields) });
}

/** Signs in as dana with the token `ops`, and returns the cookie as the browser sends it. */
async function signIn(daemon: Daemon, token: string = tokens.ops): Promise<{ readonly cookie: string }> {
  const answer = await post(daemon, "/sign-in", { token, name: "dana", next: "/silences" });
  expect([answer.status, answer.headers.get("location")]).toEqual([303, "/silences"]);
  return { cookie: answer.headers.getSetCookie()[0]?.split(";")[0] ?? "" };
}

function reload({ url }: Daemon, headers: Record<string, string>): Promise<Response> {
  return fetch(`${url}/-/reload`, { method: "POST", headers });
}

const read = async ({ url }: Daemon, headers: Record<string, string>): Promise<number> =>
  (await fetch(`${url}/api/v1/silences`, { headers })).status;

describe("a session", () => {
  beforeEach(async () => {
    port = await freePort();
    folder = await makeProgramFolder(configure(tokens.ops));
  });

  it("survives a restart, and ends with its token's secret", async () => {
    const first = await start();
    const session = await signIn(first);
    await first.kill();

    const second = await start();
    expect(await read(second, session)).toBe(200);
    await folder.write("flatline.yaml", configure("a-new-token-of-the-tests"));

    expect((await reload(second, { authorization: `Bearer ${tokens.root}` })).status).toBe(200);
    expect(await read(second, session)).toBe(401);
  });

  it("ends for good when its token's secret changes, should it change back with the next restart", async () => {
    const first = await start();
    const session = await signIn(first);
    await first.kill();
    await folder.write("flatline.yaml", configure("a-new-token-of-the-tests"));
    await (await start()).kill();
    await folder.write("flatline.yaml", configure(tokens.ops));

    const last = await start();

    expect(await read(last, session)).toBe(401);
    expect(await read(last, await signIn(last))).toBe(200);
  });
});
