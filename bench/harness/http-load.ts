import { connect, type Socket } from "node:net";

// A process of its own, so that what it costs is not the server's: it writes one prepared request on each connection as soon
// as the answer to the last one is complete, and does nothing else. Arguments are one JSON text; the answer is one line.

interface Load {
  readonly port: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly connections: number;
  readonly durationMs: number;
}

const load = JSON.parse(process.argv[2] ?? "{}") as Load;
const head = [
  `${load.method} ${load.path} HTTP/1.1`,
  `host: 127.0.0.1:${load.port}`,
  ...Object.entries(load.headers).map(([name, value]) => `${name}: ${value}`),
  `content-length: ${Buffer.byteLength(load.body)}`,
];
const request = Buffer.from(`${head.join("\r\n")}\r\n\r\n${load.body}`);
let answers = 0;
let refused = 0;
let isOver = false;
const sockets: Socket[] = [];

function begin(): void {
  const socket = connect({ port: load.port, host: "127.0.0.1", noDelay: true });
  sockets.push(socket);
  let missingBytes = 0;
  socket.on("data", (chunk) => {
    if (missingBytes === 0) {
      const headEnd = chunk.indexOf("\r\n\r\n");
      const text = chunk.toString("latin1", 0, headEnd);
      const length = /content-length: (\d+)/i.exec(text)?.[1];
      if (headEnd < 0 || length === undefined) throw new Error(`an answer that cannot be read: ${chunk.toString()}`);
      if (!text.startsWith("HTTP/1.1 200")) refused++;
      missingBytes = headEnd + 4 + Number(length);
    }
    missingBytes -= chunk.length;
    if (missingBytes > 0) return;
    answers++;
    if (!isOver) socket.write(request);
  });
  socket.on("error", (error) => {
    if (!isOver) throw error;
  });
  socket.write(request);
}

for (let index = 0; index < load.connections; index++) begin();
const startedAtMs = performance.now();
setTimeout(() => {
  isOver = true;
  process.stdout.write(`${JSON.stringify({ answers, refused, elapsedMs: performance.now() - startedAtMs })}\n`);
  for (const socket of sockets) socket.destroy();
}, load.durationMs);
