import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

// Health checks and commands of this machine: enough for some at the same time.
const mostLocalPlaces = 8;
const localShare = 8;

/** The connections of a server: whether one more has a place, and who loses one for it. */
export interface Places<Connection, Request> {
  /** Adds a connection. Returns the one that has to be ended: an older one, or itself; null: there is a place. */
  take(connection: Connection, isLocal: boolean): Connection | null;
  leave(connection: Connection): void;
  /** Its head has arrived. */
  begin(connection: Connection, request: Request): void;
  /** It was answered. */
  end(connection: Connection, request: Request): void;
}

interface Place<Request> {
  readonly isLocal: boolean;
  /** Those that are not answered yet. */
  readonly requests: Set<Request>;
}

/**
 * Creates places for `most` connections. At the bound the one that has waited the longest without a whole request loses its
 * place: slow and idle clients hold up nobody, however many they are. Some places are only for this machine.
 */
export function createPlaces<Connection, Request extends { readonly complete: boolean }>(
  most: number,
): Places<Connection, Request> {
  const mostOfOthers = most - Math.min(mostLocalPlaces, Math.floor(most / localShare));
  /** Those that wait the longest first. */
  const places = new Map<Connection, Place<Request>>();

  function oldestWaiting(isLocal: boolean): Connection | null {
    for (const [connection, place] of places) {
      if (place.isLocal === isLocal && ![...place.requests].some(({ complete }) => complete)) return connection;
    }
    return null;
  }

  return {
    take: (connection, isLocal) => {
      let loser: Connection | null = null;
      if (places.size >= (isLocal ? most : mostOfOthers))
        loser = oldestWaiting(false) ?? (isLocal ? oldestWaiting(true) : null) ?? connection;
      if (loser !== connection) places.set(connection, { isLocal, requests: new Set() });
      if (loser !== null) places.delete(loser);
      return loser;
    },
    leave: (connection) => void places.delete(connection),
    begin: (connection, request) => void places.get(connection)?.requests.add(request),
    end: (connection, request) => {
      const place = places.get(connection);
      if (place === undefined || !place.requests.delete(request) || place.requests.size > 0) return;
      // It waits from now on.
      places.delete(connection);
      places.set(connection, place);
    },
  };
}

/** Bounds the connections of a server. */
export function boundConnections(server: Server, most: number): void {
  const places = createPlaces<Socket, IncomingMessage>(most);
  server.on("connection", (socket: Socket) => {
    socket.once("close", () => places.leave(socket));
    places.take(socket, isLocalAddress(socket.remoteAddress ?? ""))?.destroy();
  });
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    places.begin(socket, request);
    response.once("close", () => places.end(socket, request));
  });
}

function isLocalAddress(address: string): boolean {
  return address === "::1" || /^(?:::ffff:)?127\./.test(address);
}
