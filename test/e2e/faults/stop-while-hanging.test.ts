import { connect } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { describe, expect, it } from "vitest";

import { createSystemClock, secondMs } from "../../../src/base/time.ts";
import { startHttpSink } from "../../support/far-side/http-sink.ts";
import { createDatabase } from "../../support/postgres/postgres.ts";
import { makeProgramFolder } from "../../support/program/program-folder.ts";
import { eventually, startDaemon, stopProgram } from "../../support/program/program.ts";
import { startTcpProxy } from "../../support/far-side/tcp-proxy.ts";

const clock = createSystemClock();
const drainMs = 500;

function configText({ storage = "path: flatline.db", more = "" } = {}): string {
  return `
source: { type: embedded }
defaults: { schedule: "@yearly" }
organizations: [acme]
server: { listen: "127.0.0.1:0", token: of-the-test, drainTimeout: ${drainMs}ms }
storage: { ${storage} }
${more}
`;
}

/** What makes a program run this first. */
function importing(code: string): Record<string, string> {
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}

/** A PostgreSQL behind a network that can swallow what is sent. */
async function swallowablePostgres() {
  const database = await createDatabase();
  const url = new URL(database.url.reveal());
  const proxy = await startTcpProxy(Number(url.port));
  url.port = String(proxy.port);
  return {
    proxy,
    storage: `url: "${url.href}"`,
    [Symbol.asyncDispose]: async () => {
      await proxy.close();
      await database.drop();
    },
  };
}

describe("SIGTERM ends the daemon", () => {
  it("with 74 while another process has the store's lock", async () => {
    await using folder = await makeProgramFolder(configText());
    await using daemon = await startDaemon([], { cwd: folder.path });
    await daemon.untilLogged("severity changed");
    using other = new DatabaseSync(join(folder.path, "flatline.db"), { timeout: 10 * secondMs });
    other.exec("begin immediate");
    const posted = fetch(`${daemon.url}/api/v1/events`, {
      method: "POST",
      headers: { authorization: "Bearer of-the-test", "content-type": "application/json" },
      body: JSON.stringify([{ at: clock.nowMs(), slug: "acme" }]),
    }).then(
      ({ status }) => status,
      () => "cut",
    );
    await eventually(async () => (await fetch(`${daemon.url}/-/healthy`)).ok);

    expect(await stopProgram(daemon)).toMatchObject({ exitCode: 74 });

    expect([200, "cut"]).toContain(await posted);
  });

  it("with 74 while the network to its PostgreSQL swallows everything", async () => {
    await using postgres = await swallowablePostgres();
    await using folder = await makeProgramFolder(configText(postgres));
    await using daemon = await startDaemon([], { cwd: folder.path });
    await daemon.untilLogged("severity changed");
    postgres.proxy.swallow();

    expect(await stopProgram(daemon)).toMatchObject({ exitCode: 74 });
  });

  it("while a request is half sent and another is not read", async () => {
    await using folder = await makeProgramFolder(configText());
    await using daemon = await startDaemon([], { cwd: folder.path });
    const half = connect(Number(new URL(daemon.url).port), "127.0.0.1");
    half.on("error", () => undefined);
    half.write(
      "POST /api/v1/silences HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer of-the-test\r\ncontent-length: 9\r\n\r\n{",
    );
    const unread = connect(Number(new URL(daemon.url).port), "127.0.0.1").pause();
    unread.on("error", () => undefined);
    unread.write("GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(50));
    await eventually(async () => (await fetch(`${daemon.url}/-/healthy`)).ok);

    expect(await stopProgram(daemon)).toMatchObject({ exitCode: 0 });

    for (const socket of [half, unread]) socket.destroy();
  });

  it("and a heartbeat that is on its way is given up at once", async () => {
    const cut: string[] = [];
    const monitor = await startHttpSink((response) => response.on("close", () => cut.push("heartbeat")));
    const upstream = await startHttpSink((response) => response.on("close", () => cut.push("check")));
    await using folder = await makeProgramFolder(
      configText({ more: `heartbeat: { url: "${monitor.url}", interval: 1s }` })
        .replace("type: embedded", `type: remote, baseUrl: "${upstream.url}", apiKey: key`)
        .replace(`${drainMs}ms`, "5s"),
    );
    await using daemon = await startDaemon([], { cwd: folder.path });
    await eventually(() => monitor.requests.length === 1 && upstream.requests.length === 1);

    expect((await stopProgram(daemon)).exitCode).toBe(0);

    // The check had the drain's time.
    await eventually(() => cut.length === 2);
    expect(cut).toEqual(["heartbeat", "check"]);
    expect(monitor.requests).toHaveLength(1);
    await Promise.all([monitor.close(), upstream.close()]);
  });
});

describe("an error that nobody handles", () => {
  it("ends the daemon at once with 70, and says so in the log", async () => {
    const bug = `process.on("SIGUSR2", () => void Promise.reject(new Error("a loop broke")))`;
    await using folder = await makeProgramFolder(configText());
    await using daemon = await startDaemon([], { cwd: folder.path, env: importing(bug) });

    daemon.signal("SIGUSR2");
    const { exitCode, stderr } = await daemon.ended();

    expect(exitCode).toBe(70);
    expect(daemon.log().at(-1)).toMatchObject({ level: "error", msg: "unexpected error, flatline ends at once" });
    expect(daemon.log().at(-1)?.["err"]).toMatchObject({ message: "a loop broke" });
    expect(stderr.split("\n").filter((line) => line !== "" && !line.startsWith("{"))).toEqual([]);
  });
});
