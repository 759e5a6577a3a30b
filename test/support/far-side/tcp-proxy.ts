import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** A way to a server on 127.0.0.1 that a test can cut. */
export interface TcpProxy {
  readonly port: number;
  /** Cuts what is open and lets nobody in. */
  refuse(): void;
  /** Takes what comes and passes nothing on: a network that swallows. */
  swallow(): void;
  /** Lets everything through again; what was swallowed is cut. */
  mend(): void;
  close(): Promise<void>;
}

/** Passes connections on to `port`. */
export async function startTcpProxy(port: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let state: "open" | "refusing" | "swallowing" = "open";

  function keep(socket: Socket): Socket {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    return socket;
  }

  function cut(): void {
    for (const socket of sockets) socket.destroy();
  }

  const server = createServer((near) => {
    keep(near);
    if (state === "refusing") return near.destroy();
    if (state === "swallowing") return near.resume();
    const far = keep(connect(port, "127.0.0.1"));
    near.pipe(far).pipe(near);
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
    return undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    refuse: () => {
      state = "refusing";
      cut();
    },
    swallow: () => {
      state = "swallowing";
      for (const socket of sockets) socket.unpipe().resume();
    },
    mend: () => {
      state = "open";
      cut();
    },
    close: async () => {
      cut();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
