import type { ServerResponse } from "node:http";

import type { FastifyInstance } from "fastify";

import { minuteMs, secondMs, type Clock } from "../../base/time.ts";
import { isSameAccess } from "../access/admission.ts";
import type { Identity } from "../access/identity.ts";
import type { AccessSettings } from "../access/settings.ts";
import { sendProblem } from "../problem.ts";
import { addResource } from "../resource.ts";

/** Tells every open page that something has changed; each then reads itself again. */
export interface ChangeStream {
  /** Whether there are as many readers as may be. */
  isFull(): boolean;
  /**
   * Keeps the answer open and writes to it until the reader goes, or until a reload changes who may read; to a proxy's user and
   * to a session for 15 minutes. The reader's page was made at `madeAtMs` (NaN: nobody knows): it is told at once of a change
   * that came between the page and this.
   */
  add(response: ServerResponse, identity: Identity | null, madeAtMs: number): void;
  close(): void;
}

export interface ChangeStreamOptions {
  readonly clock: Clock;
  /** Who may read now. */
  readonly access: () => AccessSettings;
  readonly mostReaders: number;
  /** What it costs to make one page again, milliseconds. */
  readonly costMs: () => number;
  readonly subscribe: (listener: () => void) => () => void;
}

// Changes within are drawn together.
const togetherMs = 2 * secondMs;
// All readers read their page again: at most this part of the time goes into making them, 1 in 12. With what sending them takes
// it is a tenth (100 readers of 10,000 organizations, 2026-11).
const mostShare = 12;
// A silent connection looks like a dead one; many proxies cut after 30 s or 60 s.
const heartbeatMs = 10 * secondMs;
// What becomes late or stale does so without any change: pages are read again this often.
const lookAnywayMs = 30 * secondMs;
// A reader that takes nothing for so long is gone, or had better come again.
const mostBufferedBytes = 64 * 1_024;
// Only the proxy knows when a user logs out, so the browser comes again by itself,
// and is asked who it is.
const knownUserMs = 15 * minuteMs;

/** No page is open yet. */
export function createChangeStream(options: ChangeStreamOptions): ChangeStream {
  const { clock, access, mostReaders, costMs, subscribe } = options;
  /** Until when each may read, by the monotonic clock. */
  const readers = new Map<ServerResponse, number>();
  /** By which the readers were let in. */
  let admitted = access();
  let unsubscribe: (() => void) | null = null;
  let stop = new AbortController();
  let isDirty = false;
  /** The last change; without readers nobody listens, so that it may have been until the first comes. */
  let changedMs = 0;
  let isRunning = false;

  function begin(): void {
    stop = new AbortController();
    unsubscribe = subscribe(() => {
      endUnlessAdmitted();
      isDirty = true;
      changedMs = clock.nowMs();
    });
    changedMs = clock.nowMs();
    if (!isRunning) void loop();
  }

  function end(): void {
    unsubscribe?.();
    unsubscribe = null;
    stop.abort();
  }

  /** They come again at once, and are asked for what is asked for now. */
  function endUnlessAdmitted(): void {
    const now = access();
    if (!isSameAccess(admitted, now)) endReaders(() => true);
    admitted = now;
  }

  function endReaders(isOver: (endsAtMs: number) => boolean): void {
    for (const [reader, endsAtMs] of readers) {
      if (!isOver(endsAtMs)) continue;
      readers.delete(reader);
      // One that takes nothing would never come to its end.
      if (reader.writableLength > 0) reader.destroy();
      else reader.end();
    }
    if (readers.size === 0) end();
  }

  async function loop(): Promise<void> {
    isRunning = true;
    let quietMs = 0;
    let unreadMs = 0;
    while (readers.size > 0) {
      if (unreadMs >= lookAnywayMs) isDirty = true;
      if (isDirty && unreadMs >= mostShare * readers.size * costMs()) {
        isDirty = false;
        send(changeEvent());
        quietMs = 0;
        unreadMs = 0;
      } else if (quietMs >= heartbeatMs) {
        quietMs = 0;
        // An event, not a comment: the page must see that the line is alive.
        send(`event: beat\ndata: ${clock.nowMs()}\n\n: heartbeat\n\n`);
      }
      await clock.sleep(togetherMs, stop.signal);
      const nowMs = clock.monotonicMs();
      endReaders((endsAtMs) => endsAtMs <= nowMs);
      quietMs += togetherMs;
      unreadMs += togetherMs;
    }
    isRunning = false;
  }

  function changeEvent(): string {
    return `event: change\ndata: ${JSON.stringify({ nowMs: clock.nowMs() })}\n\n`;
  }

  function send(text: string): void {
    for (const reader of readers.keys()) {
      if (reader.writableLength > mostBufferedBytes) reader.destroy();
      else reader.write(text);
    }
  }

  return {
    isFull: () => readers.size >= mostReaders,
    add: (response, identity, madeAtMs) => {
      endUnlessAdmitted();
      const isKnown = identity !== null && identity.via !== "token";
      readers.set(response, isKnown ? clock.monotonicMs() + knownUserMs : Infinity);
      response.on("close", () => {
        if (readers.delete(response) && readers.size === 0) end();
      });
      if (readers.size === 1) begin();
      response.write(`retry: 2000\nevent: hello\ndata: ${clock.nowMs()}\n\n`);
      if (!(madeAtMs > changedMs)) response.write(changeEvent());
    },
    close: () => endReaders(() => true),
  };
}

/** What it costs to make a page, by those that were made. */
export interface PageCost {
  during<Result>(work: Promise<Result>): Promise<Result>;
  /** The time in which any was made, divided by their number, milliseconds; 0 before the first. */
  meanMs(): number;
}

// Those before count half: what is configured may have changed.
const rememberedPages = 100;

/** Nothing was made yet. */
export function createPageCost(clock: Pick<Clock, "monotonicMs">): PageCost {
  let [making, startedMs, busyMs, pages] = [0, 0, 0, 0];
  return {
    during: async (work) => {
      if (making++ === 0) startedMs = clock.monotonicMs();
      try {
        return await work;
      } finally {
        pages++;
        if (--making === 0) busyMs += clock.monotonicMs() - startedMs;
        if (pages >= rememberedPages && making === 0) [busyMs, pages] = [busyMs / 2, pages / 2];
      }
    },
    meanMs: () => (pages === 0 ? 0 : busyMs / pages),
  };
}

// Pages are closed every now and then.
const retryAfterSeconds = 10;

/** `/events`: what keeps pages live (CONTRACT 8). */
export function addLiveRoute(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  options: Omit<ChangeStreamOptions, "access">,
): void {
  const stream = createChangeStream({ ...options, access: settings });
  scope.addHook("preClose", (done) => {
    stream.close();
    done();
  });
  addResource(scope, "/events", settings, {
    GET: {
      access: "public",
      handle: (request, reply) => {
        if (stream.isFull()) {
          const message = `${options.mostReaders} pages are kept live, as many as there may be at once: this one is not`;
          // A connection that is kept would be one too many.
          return sendProblem(
            reply.headers({ "retry-after": String(retryAfterSeconds), connection: "close" }),
            503,
            message,
          );
        }
        void reply.header("content-type", "text/event-stream; charset=utf-8");
        if (request.method === "HEAD") return reply.send();
        reply.hijack();
        reply.raw.writeHead(200, {
          "content-type": "text/event-stream; charset=utf-8",
          "cache-control": "no-store",
          "x-accel-buffering": "no",
          "x-content-type-options": "nosniff",
          connection: "close",
        });
        stream.add(reply.raw, request.identity, Number((request.query as { readonly since?: unknown }).since));
        return reply;
      },
    },
  });
}
