// The least that answers over HTTP, as CommonJS: an ES module's import of node:http alone loads twice as much of Node.
const { createServer } = require("node:http");

const reply = process.argv[3] ?? "ok\n";
createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(reply) });
    response.end(reply);
  });
}).listen(Number(process.argv[2]), "127.0.0.1");
