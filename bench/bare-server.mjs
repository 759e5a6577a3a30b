// The least that answers over HTTP, as an ES module, which flatline is too.
import { createServer } from "node:http";

const reply = process.argv[3] ?? "ok\n";
createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(reply) });
    response.end(reply);
  });
}).listen(Number(process.argv[2]), "127.0.0.1");
