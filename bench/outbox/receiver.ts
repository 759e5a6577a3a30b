import { createServer } from "node:http";

// A process of its own, so that what it costs is neither side's: it reads each notification to its end and answers 200 at once.
// Its first line on stdout is its port.
const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume();
  request.on("end", () => {
    response.writeHead(200, { "content-type": "text/plain", "content-length": 2 });
    response.end("ok");
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(`${typeof address === "object" ? address?.port : ""}\n`);
});
