import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { evaluateSpike } from "../../src/spike/spike.ts";

// A process of its own, so that what it costs is neither side's: it answers each healthcheck request with a result
// about the organization that was asked for. Its first line on stdout is its port.

let answered = 0;

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (chunk: string) => (body += chunk));
  request.on("end", () => {
    const slug = /"slug":"([^"]*)"/.exec(body)?.[1] ?? "none";
    // Counts that move from run to run, as real ones do.
    const counts = { currentCount: 20 + (answered++ % 13), baselineCount: 176 };
    const text = JSON.stringify(evaluateSpike({ slug, nowMs: Date.now(), ...counts }));
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
    });
    response.end(text);
  });
});
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
