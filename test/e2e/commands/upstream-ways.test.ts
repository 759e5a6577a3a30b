import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { runProgram, type ProgramEnd } from "../../support/program/program.ts";

// Each way to a far side is tried once with the built program, whose libraries are joined into it (scripts/bundle.js).

let folder: string;
let proxy: Server;
let tcp: TcpServer;
const asked: string[] = [];
const firstBytes: number[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-ways-"));
  proxy = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(503).end();
  });
  proxy.on("connect", (request, socket) => {
    asked.push(`CONNECT ${request.url}`);
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  tcp = createTcpServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (bytes: Buffer) => {
      firstBytes.push(bytes[0] ?? -1);
      socket.destroy();
    });
  });
  proxy.listen(0, "127.0.0.1");
  tcp.listen(0, "127.0.0.1");
  await Promise.all([once(proxy, "listening"), once(tcp, "listening")]);
});

afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  tcp.close();
  await rm(folder, { recursive: true, force: true });
});

async function check(baseUrl: string, env: Readonly<Record<string, string>>, timeout = "30s"): Promise<ProgramEnd> {
  const source = `source: { type: remote, baseUrl: "${baseUrl}", apiKey: some-long-key, retries: 0, timeout: ${timeout} }`;
  await writeFile(join(folder, "flatline.yaml"), `${source}\norganizations: [acme]\n`);
  return runProgram(["check", "--json"], { cwd: folder, env });
}

function portOf(server: Pick<TcpServer, "address">): number {
  return (server.address() as AddressInfo).port;
}

describe("the built program reaches", () => {
  it("an http service through a proxy", async () => {
    const { exitCode, stdout } = await check("http://service.test/api/v2", {
      HTTP_PROXY: `http://127.0.0.1:${portOf(proxy)}`,
    });

    expect([exitCode, asked.at(-1)]).toEqual([
      3,
      "POST http://service.test/api/v2/healthchecks/assets/dead-asset-spike",
    ]);
    expect(JSON.parse(stdout)).toMatchObject([{ error: { reason: "server_error" } }]);
  });

  it("an https service through a proxy's tunnel", async () => {
    const { exitCode, stdout } = await check("https://service.test/api/v2", {
      HTTPS_PROXY: `http://127.0.0.1:${portOf(proxy)}`,
    });

    expect([exitCode, asked.at(-1)]).toEqual([3, "CONNECT service.test:443"]);
    expect(JSON.parse(stdout)).toMatchObject([{ error: { reason: "network" } }]);
  });

  it("a service behind a SOCKS proxy", async () => {
    const env = { HTTP_PROXY: `socks5://127.0.0.1:${portOf(tcp)}` };

    // A SOCKS proxy that hangs up is noticed when the time is over.
    const { exitCode } = await check("http://service.test/api/v2", env, "2s");

    expect([exitCode, firstBytes.at(-1)]).toEqual([3, 5]);
  });
});
