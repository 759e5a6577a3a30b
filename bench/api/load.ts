import { once } from "node:events";
import { connect } from "node:net";

// A process of its own, so that its cost is not the server's. It writes one prepared request on each connection as soon
// as the last answer is complete, and nothing else. The argument is JSON; it prints how many answers came a second.

interface Load {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly connections: number;
  readonly durationMs: number;
}

const { port, path, headers, body, connections, durationMs } = JSON.parse(process.argv[2] ?? "{}") as Load;
const head = [
  `POST ${path} HTTP/1.1`,
  `host: 127.0.0.1:${port}`,
  ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  `content-length: ${Buffer.byteLength(body)}`,
];
const request = Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`);
let answers = 0;

async function begin(): Promise<void> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  await once(socket, "connect");
  let missingBytes = 0;
  socket.on("data", (chunk) => {
    if (missingBytes === 0) {
      const headEnd = chunk.indexOf("\r\n\r\n");
      const text = chunk.toString("latin1", 0, headEnd);
      const length = /content-length: (\d+)/i.exec(text)?.[1];
      if (!text.startsWith("HTTP/1.1 200") || length === undefined) throw new Error(`no good answer: ${text}`);
      missingBytes = headEnd + 4 + Number(length);
    }
    missingBytes -= chunk.length;
    if (missingBytes > 0) return;
    answers++;
    socket.write(request);
  });
  socket.write(request);
}

const startedAtMs = performance.now();
await Promise.all(Array.from({ length: connections }, begin));
setTimeout(() => {
  console.log((answers * 1_000) / (performance.now() - startedAtMs));
  process.exit();
}, durationMs);
