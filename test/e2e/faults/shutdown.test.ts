import { describe, expect, it } from "vitest";

import { makeProgramFolder } from "../../support/program/program-folder.ts";
import { statusOf, eventually, startDaemon } from "../../support/program/program.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "../../support/far-side/scripted-upstream.ts";

function configText(baseUrl: string): string {
  return `
source: { type: remote, baseUrl: "${baseUrl}", apiKey: key, timeout: 60s }
defaults: { schedule: "* * * * * *" }
organizations: [acme, globex]
server: { listen: "127.0.0.1:0" }
storage: { path: flatline.db }
`;
}

/** One that takes every request and never answers. */
async function hangingUpstream(): Promise<ScriptedUpstream> {
  const upstream = await startScriptedUpstream();
  upstream.otherwise(() => ({ kind: "hang" }));
  return upstream;
}

describe.concurrent("a daemon whose upstream hangs", () => {
  it.each(["SIGTERM", "SIGINT"] as const)("ends with 0 after %s, and is not ready meanwhile", async (name) => {
    const upstream = await hangingUpstream();
    await using folder = await makeProgramFolder(configText(upstream.baseUrl));
    await using daemon = await startDaemon([], { cwd: folder.path });
    await upstream.received(2);
    expect(await statusOf(`${daemon.url}/-/ready`)).toBe(200);

    daemon.signal(name);
    await eventually(async () => (await statusOf(`${daemon.url}/-/ready`)) === 503);
    const asked = upstream.requests.length;
    // Alive it is: nobody has to restart what is about to end.
    expect(await statusOf(`${daemon.url}/-/healthy`)).toBe(200);
    const { exitCode } = await daemon.ended();

    expect(exitCode).toBe(0);
    expect(upstream.requests, "new runs while it stops").toHaveLength(asked);
    expect(daemon.log().at(-1)).toMatchObject({ msg: "flatline stopped" });
    await upstream.close();
  });

  it.each([
    { name: "SIGTERM", exitCode: 143 },
    { name: "SIGINT", exitCode: 130 },
  ] as const)("ends at once on a second $name", async ({ name, exitCode }) => {
    const upstream = await hangingUpstream();
    await using folder = await makeProgramFolder(configText(upstream.baseUrl));
    await using daemon = await startDaemon([], { cwd: folder.path });
    await upstream.received(2);

    daemon.signal(name);
    await daemon.untilLogged("flatline stops");
    daemon.signal(name);
    const end = await daemon.ended();

    expect(end.exitCode).toBe(exitCode);
    await upstream.close();
  });
});
