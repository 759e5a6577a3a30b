import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";

import type { FastifyInstance, FastifyReply } from "fastify";

import { createLoop } from "../base/loop.ts";
import { secondMs, type Clock } from "../base/time.ts";
import { problemBody, securityHeaders } from "./problem.ts";

// Health checks and commands of this machine: enough for some at the same time.
const mostLocalPlaces = 8;
const localShare = 8;

// Looks are a second apart. They are counted and no clock is asked: after a pause of the whole process it could not be known
// yet what the other side has taken meanwhile.
const lookEveryMs = secondMs;
const mostStillLooks = 10;

// Smaller answers find room in the memory of the system, and have to come through whatever else waits: a health check.
const freeBytes = 16 * 1_024;

interface PlacesOptions<Connection> {
  readonly most: number;
  /** Of answers that wait to be sent, all together. */
  readonly mostAnswerBytes: number;
  /** How much the other side has taken so far, in bytes; null while nothing waits to be sent. */
  readonly takenOf: (connection: Connection) => number | null;
}

/** The connections of a server: whether one more has a place, who loses one for it, and what waits to be sent on them. */
interface Places<Connection, Request> {
  /** Adds a connection. Returns the one that has to be ended: an older one, or itself; null: there is a place. */
  take(connection: Connection, isLocal: boolean): Connection | null;
  leave(connection: Connection): void;
  /** Its head has arrived. */
  begin(connection: Connection, request: Request): void;
  /** It was answered, and nothing of the answer waits any more. */
  end(connection: Connection, request: Request): void;
  /** Keeps an answer of this size until its request ends, if there is room; `losers` have to be ended for it. */
  hold(connection: Connection, bytes: number): { readonly isHeld: boolean; readonly losers: readonly Connection[] };
  /** Looks at what was taken since the last look. Returns those that have to be ended: nothing was taken for ten of them. */
  look(): readonly Connection[];
}

interface Place<Request> {
  readonly isLocal: boolean;
  /** Those that are not answered yet. */
  readonly requests: Set<Request>;
  /** The answer that waits. */
  heldBytes: number;
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
function createPlaces<Connection, Request extends { readonly complete: boolean }>({
  most,
  mostAnswerBytes,
  takenOf,
}: PlacesOptions<Connection>): Places<Connection, Request> {
  const mostOfOthers = most - Math.min(mostLocalPlaces, Math.floor(most / localShare));
  /** Those that wait the longest first. */
  const places = new Map<Connection, Place<Request>>();
  let heldBytes = 0;

  function oldestWaiting(isLocal: boolean): Connection | null {
    for (const [connection, place] of places) {
      if (place.isLocal === isLocal && ![...place.requests].some(({ complete }) => complete)) return connection;
    }
    return null;
  }

  /** The oldest of those that have stood still for the longest. */
  function longestStill(isOne: (place: Place<Request>) => boolean): Connection | null {
    let found: { readonly connection: Connection; readonly stillLooks: number } | null = null;
    for (const [connection, place] of places) {
      const { stillLooks } = place;
      if ((found !== null && stillLooks <= found.stillLooks) || !isOne(place) || takenOf(connection) === null) continue;
      found = { connection, stillLooks };
    }
    return found?.connection ?? null;
  }

  function loserFor(isLocal: boolean): Connection | null {
    return oldestWaiting(isLocal) ?? longestStill((place) => place.isLocal === isLocal);
  }

  /** An answer that is larger than all of the room may have it for itself. */
  const isRoomFor = (bytes: number): boolean => heldBytes === 0 || heldBytes + bytes <= mostAnswerBytes;

  function giveBack(place: Place<Request>): void {
    heldBytes -= place.heldBytes;
    place.heldBytes = 0;
  }

  function leave(connection: Connection): void {
    const place = places.get(connection);
    if (place === undefined) return;
    giveBack(place);
    places.delete(connection);
  }

  return {
    take: (connection, isLocal) => {
      let loser: Connection | null = null;
      if (places.size >= (isLocal ? most : mostOfOthers))
        loser = loserFor(false) ?? (isLocal ? loserFor(true) : null) ?? connection;
      if (loser !== connection)
        places.set(connection, { isLocal, requests: new Set(), heldBytes: 0, takenBytes: null, stillLooks: 0 });
      if (loser !== null) leave(loser);
      return loser;
    },
    leave,
    begin: (connection, request) => void places.get(connection)?.requests.add(request),
    end: (connection, request) => {
      const place = places.get(connection);
      if (place === undefined || !place.requests.delete(request)) return;
      giveBack(place);
      if (place.requests.size > 0) return;
      // It waits from now on.
      places.delete(connection);
      places.set(connection, place);
    },
    hold: (connection, bytes) => {
      const place = places.get(connection);
      const losers: Connection[] = [];
      if (place === undefined || bytes <= freeBytes) return { isHeld: true, losers };
      while (!isRoomFor(bytes)) {
        const loser = longestStill((other) => other.heldBytes > 0 && other.stillLooks > 0);
        if (loser === null) return { isHeld: false, losers };
        losers.push(loser);
        leave(loser);
      }
      place.heldBytes += bytes;
      heldBytes += bytes;
      return { isHeld: true, losers };
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

export interface ConnectionsOptions extends Pick<PlacesOptions<Socket>, "most" | "mostAnswerBytes"> {
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** The connections of one server. */
export interface Connections {
  /** Bounds those of this server from now on. */
  watch(server: Server): void;
  /** Keeps room for an answer of this size until it was sent, and ends others that stand still for it; false: there is none. */
  hold(socket: Socket, bytes: number): boolean;
}

/** There is none yet. */
export function createConnections({ clock, onError, ...bounds }: ConnectionsOptions): Connections {
  const places = createPlaces<Socket, IncomingMessage>({ ...bounds, takenOf: takenBytesOf });
  const loop = createLoop({
    clock,
    everyMs: lookEveryMs,
    firstAfterMs: lookEveryMs,
    runOnce: async () => places.look().forEach((socket) => socket.destroy()),
    onError,
  });
  return {
    watch: (server) => {
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
    },
    hold: (socket, bytes) => {
      const { isHeld, losers } = places.hold(socket, bytes);
      for (const loser of losers) loser.destroy();
      return isHeld;
    },
  };
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

/** Lets a server give an answer only when there is room for it until it was sent; else it is 503. */
export function boundAnswers(server: FastifyInstance, connections: Pick<Connections, "hold">): void {
  server.addHook("onSend", (request, reply, payload, done) => {
    const isSent = request.method !== "HEAD";
    if (!isSent || connections.hold(request.raw.socket, bytesOf(reply, payload))) return done(null, payload);
    if (payload instanceof Readable) payload.destroy();
    for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name);
    void reply
      .code(503)
      .headers({ ...securityHeaders, "retry-after": "1" })
      .type("application/json; charset=utf-8");
    done(null, JSON.stringify(problemBody(503, "other answers that nobody takes hold all memory: try again later")));
  });
}

/** A stream that does not say how long it is, is made while it is taken. */
function bytesOf(reply: FastifyReply, payload: unknown): number {
  if (typeof payload === "string") return Buffer.byteLength(payload);
  return payload instanceof Uint8Array ? payload.length : Number(reply.getHeader("content-length") ?? 0);
}
