import { chmod } from "node:fs/promises";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { startHttpSink } from "../../support/far-side/http-sink.ts";
import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import { eventually, readText, startDaemon } from "../../support/program/program.ts";

const token = "correct-horse-battery-staple";

/** An open answer of `/events`, or its refusal; each has a connection of its own. */
interface Stream {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly isOpen: () => boolean;
  readonly text: () => string;
  readonly close: () => void;
}

function openStream(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const request = get(`${url}/events`, { agent: false, headers }, (response) => {
      let isOpen = true;
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      for (const end of ["end", "error", "close"] as const) response.on(end, () => (isOpen = false));
      resolve({
        status: response.statusCode,
        headers: response.headers,
        isOpen: () => isOpen,
        text: () => text,
        close: () => request.destroy(),
      });
    }).on("error", reject);
  });
}

/** A Node.js that may have so many descriptors open. */
async function nodeWithDescriptors(folder: ProgramFolder, count: number): Promise<string> {
  await folder.write("node", `#!/bin/sh\nulimit -n ${count}\nexec "${process.execPath}" "$@"\n`);
  const path = join(folder.path, "node");
  await chmod(path, 0o755);
  return path;
}

describe("streams of the page", () => {
  it("leave descriptors for health and deliveries: 150 under a limit of 96", { timeout: 60_000 }, async () => {
    const sink = await startHttpSink((response) => response.end());
    await using folder = await makeProgramFolder(`
source: { type: embedded }
organizations: [acme]
alerting: { groupWait: 0s, fleet: false }
receivers: [{ name: ops, type: webhook, url: "${sink.url}" }]
server: { listen: "127.0.0.1:0", token: ${token} }
storage: { path: flatline.db }
`);
    const node = await nodeWithDescriptors(folder, 96);
    await using daemon = await startDaemon([], { cwd: folder.path, node });

    const streams: Stream[] = [];
    for (let count = 0; count < 150; count++) streams.push(await openStream(daemon.url));

    const open = streams.filter(({ status }) => status === 200);
    const refused = streams.filter(({ status }) => status !== 200);
    expect(open).toHaveLength(24);
    expect(refused[0]).toMatchObject({ status: 503, headers: { "retry-after": "10", connection: "close" } });
    await eventually(() => refused[0]?.text().includes("SERVICE_UNAVAILABLE") === true);
    expect(await readText(`${daemon.url}/-/healthy`)).toContain("ok");

    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const nowMs = Date.now();
    const deaths = Array.from({ length: 50 }, (_, index) => ({ at: nowMs - index * 1_000, slug: "acme" }));
    const post = (path: string, body: unknown): Promise<Response> =>
      fetch(`${daemon.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    expect((await post("/api/v1/events", deaths)).status).toBe(200);
    expect((await post("/api/v1/checks/dead-asset-spike/acme/run", {})).status).toBe(200);
    await eventually(() => sink.requests.length > 0);

    expect(open.every(({ isOpen }) => isOpen())).toBe(true);
    for (const stream of open) stream.close();
    await eventually(async () => (await openStream(daemon.url)).status === 200);
    expect(daemon.log().filter(({ level }) => level === "error")).toEqual([]);
    await sink.close();
  });
});
