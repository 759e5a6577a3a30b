import { createServer } from "node:http";

import { okResult } from "./ok-result.ts";

// A process of its own, so that what it costs is neither side's: it answers each healthcheck request with a result about the
// organization that was asked for. Its first line on stdout is its port. Argument: "close" ends each connection after its answer.

const closes = process.argv[2] === "close";
let answered = 0;

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (chunk: string) => (body += chunk));
  request.on("end", () => {
    const slug = /"slug":"([^"]*)"/.exec(body)?.[1] ?? "none";
    const text = JSON.stringify(okResult(slug, answered++, Date.now()));
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
