import { createServer } from "node:http";

// A process of its own, so that what it costs is neither side's: it answers each healthcheck request with a result about the
// organization that was asked for. Its first line on stdout is its port. Argument: "close" ends each connection after its answer.

const closes = process.argv[2] === "close";
let answered = 0;

/** The result of API v2 with counts that move a little, as real ones do. */
function result(slug: string): string {
  const currentCount = 20 + (answered++ % 13);
  const expectedCount = 25.142857142857142;
  return JSON.stringify({
    id: "dead-asset-spike",
    title: "Spike in recently dead assets",
    category: "assets",
    generatedAt: new Date().toISOString(),
    scope: { slug },
    ok: true,
    severity: "ok",
    observed: { currentCount, baselineCount: 176, expectedCount, ratio: currentCount / expectedCount },
    threshold: {
      windowHours: 24,
      baselineDays: 7,
      warnMultiplier: 2,
      failMultiplier: 4,
      minSpikeCount: 10,
      warnAbove: 2 * expectedCount,
      failAbove: 4 * expectedCount,
    },
    findings: [],
    suggestedAction: null,
    appUrl: null,
  });
}

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (chunk: string) => (body += chunk));
  request.on("end", () => {
    const text = result(/"slug":"([^"]*)"/.exec(body)?.[1] ?? "none");
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
      ...(closes ? { connection: "close" } : {}),
    });
    response.end(text);
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(`${typeof address === "object" ? address?.port : ""}\n`);
});
