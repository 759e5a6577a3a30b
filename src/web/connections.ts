import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

import { createLoop } from "../base/loop.ts";
import { secondMs, type Clock } from "../base/time.ts";

// Health checks and commands of this machine: enough for some at the same time.
const mostLocalPlaces = 8;
const localShare = 8;

// Looks are a second apart. They are counted and no clock is asked: after a pause of the whole process it could not be known
// yet what the other side has taken meanwhile.
const lookEveryMs = secondMs;
const mostStillLooks = 10;

export interface PlacesOptions<Connection> {
  readonly most: number;
  /** How much the other side has taken so far, in bytes; null while nothing waits to be sent. */
  readonly takenOf: (connection: Connection) => number | null;
}

/** The connections of a server: whether one more has a place, who loses one for it, and what waits to be sent on them. */
export interface Places<Connection, Request> {
  /** Adds a connection. Returns the one that has to be ended: an older one, or itself; null: there is a place. */
  take(connection: Connection, isLocal: boolean): Connection | null;
  leave(connection: Connection): void;
  /** Its head has arrived. */
  begin(connection: Connection, request: Request): void;
  /** It was answered, and nothing of the answer waits any more. */
  end(connection: Connection, request: Request): void;
  /** Looks at what was taken since the last look. Returns those that have to be ended: nothing was taken for ten of them. */
  look(): readonly Connection[];
}

interface Place<Request> {
  readonly isLocal: boolean;
  /** Those that are not answered yet. */
  readonly requests: Set<Request>;
  /** As of the last look. */
  takenBytes: number | null;
  /** Looks in a row at which nothing more had been taken of what waits. */
  stillLooks: number;
}

/**
 * Creates places for `most` connections. At the bound the one that has waited the longest without a whole request loses its
 * place, then the one that has taken nothing of its answer for the longest: slow and idle clients hold up nobody, however many
 * they are. Some places are only for this machine.
 */
export function createPlaces<Connection, Request extends { readonly complete: boolean }>({
  most,
  takenOf,
}: PlacesOptions<Connection>): Places<Connection, Request> {
  const mostOfOthers = most - Math.min(mostLocalPlaces, Math.floor(most / localShare));
  /** Those that wait the longest first. */
  const places = new Map<Connection, Place<Request>>();

  function oldestWaiting(isLocal: boolean): Connection | null {
    for (const [connection, place] of places) {
      if (place.isLocal === isLocal && ![...place.requests].some(({ complete }) => complete)) return connection;
    }
    return null;
  }

  /** The oldest of those that have stood still for the longest. */
  function longestStill(isLocal: boolean): Connection | null {
    let found: { readonly connection: Connection; readonly stillLooks: number } | null = null;
    for (const [connection, place] of places) {
      const { stillLooks } = place;
      if (place.isLocal !== isLocal || takenOf(connection) === null) continue;
      if (found === null || stillLooks > found.stillLooks) found = { connection, stillLooks };
    }
    return found?.connection ?? null;
  }

  const loserFor = (isLocal: boolean): Connection | null => oldestWaiting(isLocal) ?? longestStill(isLocal);

  return {
    take: (connection, isLocal) => {
      let loser: Connection | null = null;
      if (places.size >= (isLocal ? most : mostOfOthers))
        loser = loserFor(false) ?? (isLocal ? loserFor(true) : null) ?? connection;
      if (loser !== connection)
        places.set(connection, { isLocal, requests: new Set(), takenBytes: null, stillLooks: 0 });
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
    look: () => {
      const losers: Connection[] = [];
      for (const [connection, place] of places) {
        const takenBytes = takenOf(connection);
        place.stillLooks = takenBytes !== null && takenBytes === place.takenBytes ? place.stillLooks + 1 : 0;
        place.takenBytes = takenBytes;
        if (place.stillLooks >= mostStillLooks) losers.push(connection);
      }
      return losers;
    },
  };
}

export interface ConnectionsOptions extends Pick<PlacesOptions<Socket>, "most"> {
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Bounds the connections of a server. */
export function boundConnections(server: Server, { most, clock, onError }: ConnectionsOptions): void {
  const places = createPlaces<Socket, IncomingMessage>({ most, takenOf: takenBytesOf });
  const loop = createLoop({
    clock,
    everyMs: lookEveryMs,
    firstAfterMs: lookEveryMs,
    runOnce: async () => places.look().forEach((socket) => socket.destroy()),
    onError,
  });
  server.on("listening", () => loop.start());
  server.on("close", () => void loop.stop());
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

/** What Node.js looks at for its own timeouts: the public counts change only when a whole piece was taken, which may be an answer of megabytes. */
interface WithHandle {
  readonly _handle: { readonly bytesWritten: number; readonly writeQueueSize: number } | null;
}

function takenBytesOf(socket: Socket): number | null {
  if (socket.writableLength === 0) return null;
  const { _handle: handle } = socket as unknown as WithHandle;
  return handle === null ? null : handle.bytesWritten - handle.writeQueueSize;
}

function isLocalAddress(address: string): boolean {
  return address === "::1" || /^(?:::ffff:)?127\./.test(address);
}
