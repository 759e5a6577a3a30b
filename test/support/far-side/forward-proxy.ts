import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import type { Duplex } from "node:stream";

export interface ForwardProxy extends AsyncDisposable {
  readonly url: string;
  /** What CONNECT asked for, `address:port`, and with which headers. */
  readonly asked: {
    readonly authority: string;
    readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  }[];
}

/**
 * Starts a proxy that leads each CONNECT to the port of the loopback interface that `portOf` names, whatever address
 * was asked for; a status in its place refuses it, null never answers.
 */
export async function startForwardProxy(
  portOf: (authority: string) => { readonly port: number } | { readonly status: number } | null,
): Promise<ForwardProxy> {
  const asked: ForwardProxy["asked"] = [];
  const sockets = new Set<Duplex>();
  const server = createServer((_, response) => response.writeHead(405).end());
  server.on("connect", (request, socket: Duplex) => {
    const authority = request.url ?? "";
    asked.push({ authority, headers: request.headers });
    sockets.add(socket);
    socket.on("error", () => undefined).once("close", () => sockets.delete(socket));
    const target = portOf(authority);
    if (target === null) return;
    if ("status" in target) {
      socket.end(`HTTP/1.1 ${target.status} No\r\n\r\n`);
      return;
    }
    const upstream = connect(target.port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on("error", () => socket.destroy());
    socket.once("close", () => upstream.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
