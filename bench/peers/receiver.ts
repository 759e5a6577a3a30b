import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** One request that the receiver accepted. */
export interface Received {
  readonly atMs: number;
  readonly path: string;
  readonly body: string;
}

/** A webhook receiver that can be down: then nothing listens on its port. */
export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  down(): Promise<void>;
  up(): Promise<void>;
}

/** Starts a receiver on a port of its own, which it keeps while it is down. */
export async function startReceiver(nowMs: () => number): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      received.push({ atMs: nowMs(), path: request.url ?? "", body });
      response.writeHead(200, { "content-type": "text/plain" }).end("ok");
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
