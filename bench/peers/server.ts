import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A request and when it came, epoch ms. */
export interface Received {
  readonly atMs: number;
  readonly path: string;
  readonly body: string;
}

/** Something that is asked over HTTP, and can be down: then nothing listens on its port. */
export interface Server {
  readonly url: string;
  /** What it accepted so far. */
  readonly received: readonly Received[];
  down(): Promise<void>;
  up(): Promise<void>;
}

/** Starts one on a port of its own, which answers in JSON; null is 400. */
export async function startServer(answer: (one: Received) => object | null): Promise<Server> {
  const received: Received[] = [];
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      const one = { atMs: Date.now(), path: request.url ?? "", body };
      received.push(one);
      const found = answer(one);
      response.writeHead(found === null ? 400 : 200, { "content-type": "application/json" }).end(JSON.stringify(found));
    });
  });
  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    up: () => listen(port),
    down: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
