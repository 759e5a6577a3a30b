import { Worker } from "node:worker_threads";

import { FlatlineError } from "../../base/errors.ts";
import { collectBytes } from "../../base/request-body.ts";
import type { Clock } from "../../base/time.ts";
import type { StoreLocation } from "../engine/location.ts";
import { createIngestAnswers, type IngestReply, type IngestRequest, type OpenPosts } from "./ingest-answers.ts";
import type { PostOutcome } from "./posts.ts";
import { RefusedEvents } from "./read.ts";

export interface PostOptions {
  /** The Idempotency-Key header: the same key with the same body within 24 h gets the same answer, and nothing is stored. */
  readonly idempotencyKey: string | null;
  /** The author of the post: the key counts for this author only [everybody]. */
  readonly author?: string;
  /** The patterns of the slugs that the author may post of [null: all]. */
  readonly organizations?: readonly string[] | null;
}

export interface EventIngest {
  /**
   * Stores the events of a request body, NDJSON or a JSON array, completely or not at all. The caller bounds how many
   * bodies wait in memory for the only worker.
   * @throws forbidden (an event of another organization), invalid_data with one issue per bad line, too_large,
   * conflict (the key was used for another body), unavailable (stopped), store_busy (an import that takes longer than
   * 5 s), store_unusable
   */
  ingest(body: Uint8Array | AsyncIterable<Uint8Array>, options: PostOptions): Promise<PostOutcome>;
  /** Accepts no more posts, gives up the current one, of which nothing is stored, and waits for the end of every worker. */
  close(): Promise<void>;
}

export interface EventIngestOptions {
  /** Location of an open store: the schema must exist. */
  readonly location: StoreLocation;
  /** The writer's [0, of a file]. */
  readonly epoch?: number;
  readonly clock: Clock;
  /** Largest body, bytes [16 MiB] (CONTRACT 8). */
  readonly maxBodyBytes?: number;
  /** Stores the events in this thread: for a simulation, in which nothing runs beside it [in a worker thread]. */
  readonly openPosts?: OpenPosts;
}

const defaultMaxBodyBytes = 16 * 1_024 ** 2;
const longestKey = 255;
// An idle worker holds 20 MB; starting one takes a tenth of a second.
const idleMs = 10_000;

interface Waiting {
  readonly resolve: (reply: IngestReply) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Accepts events while the daemon runs. A worker thread parses and writes them, so that a million posted events do not block
 * the daemon's event loop. Posts are stored one after the other.
 */
export function createEventIngest(options: EventIngestOptions): EventIngest {
  const maxBodyBytes = options.maxBodyBytes ?? defaultMaxBodyBytes;
  const waiting = new Map<number, Waiting>();
  let nextId = 0;
  let worker: Worker | null = null;
  // A worker is never terminated, for it may be amid SQLite's or the driver's native code: it is asked to end, and awaited.
  const ends = new Map<Worker, Promise<void>>();
  let isClosed = false;
  let idling = new AbortController();

  // Works in src and dist: tsc rewrites imports, but not URLs.
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const workerUrl = new URL(`./ingest-worker.${extension}`, import.meta.url);

  const answerHere = options.openPosts === undefined ? null : createIngestAnswers(options.openPosts, options.clock);

  function start(): Worker {
    const started = new Worker(workerUrl, { workerData: workerLocation(options) });
    // The worker must not keep a stopping process alive.
    started.unref();
    const fail = (error: unknown): void => {
      // An idle worker was released before it ended; waiting requests belong to the next one.
      if (worker !== started) return;
      worker = null;
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    };
    started.on("message", (reply: IngestReply) => {
      const asked = waiting.get(reply.id);
      waiting.delete(reply.id);
      if (waiting.size === 0 && worker === started) void rest(started);
      asked?.resolve(reply);
    });
    started.on("error", (cause) =>
      fail(new FlatlineError("internal", "the thread that stores events failed", { cause })),
    );
    const { promise: ended, resolve: noteEnd } = Promise.withResolvers<void>();
    ends.set(started, ended);
    started.on("exit", () => {
      fail(new FlatlineError("unavailable", "the thread that stores events has stopped"));
      ends.delete(started);
      noteEnd();
    });
    return started;
  }

  /** Lets a worker end that is idle. */
  async function rest(idle: Worker): Promise<void> {
    idle.unref();
    const { signal } = idling;
    await options.clock.sleep(idleMs, signal);
    if (signal.aborted || worker !== idle) return;
    worker = null;
    idle.postMessage({ kind: "close", id: nextId++ } satisfies IngestRequest, []);
  }

  async function ask(request: IngestRequest, transfer: ArrayBuffer[] = []): Promise<IngestReply> {
    const reply = await (answerHere === null ? askWorker(request, transfer) : answerHere(request));
    if (reply.kind === "failed") {
      const { code, message, issues, refused } = reply;
      if (Object.keys(refused).length > 0) throw new RefusedEvents(message, issues, refused);
      throw new FlatlineError(code, message, { issues });
    }
    return reply;
  }

  function askWorker(request: IngestRequest, transfer: ArrayBuffer[]): Promise<IngestReply> {
    idling.abort();
    idling = new AbortController();
    const running = (worker ??= start());
    return new Promise((resolve, reject) => {
      waiting.set(request.id, { resolve, reject });
      // A caller waits: keep the process alive until it has its answer.
      running.ref();
      running.postMessage(request, transfer);
    });
  }

  return {
    ingest: async (body, { idempotencyKey, author = "", organizations = null }) => {
      if (isClosed) throw new FlatlineError("unavailable", "flatline is stopping");
      if (idempotencyKey !== null && !/^[\x20-\x7e]+$/.test(idempotencyKey)) {
        throw new FlatlineError("invalid_data", "Idempotency-Key is not printable ASCII");
      }
      if (idempotencyKey !== null && idempotencyKey.length > longestKey) {
        throw new FlatlineError("invalid_data", `Idempotency-Key is longer than ${longestKey} characters`);
      }
      const ownKey = idempotencyKey === null ? null : `${author}\n${idempotencyKey}`;
      const bytes = await collectBytes(body instanceof Uint8Array ? [body] : body, maxBodyBytes);
      const post = { kind: "post", id: nextId++, body: bytes, idempotencyKey: ownKey, organizations } as const;
      const reply = await ask(post, [bytes.buffer]);
      if (reply.kind !== "posted")
        throw new FlatlineError("internal", "unexpected answer of the thread that stores events");
      return reply.outcome;
    },
    close: async () => {
      isClosed = true;
      if (worker !== null || answerHere !== null) await ask({ kind: "close", id: nextId++ }).catch(() => undefined);
      idling.abort();
      // Idle threads that were released are awaited, too.
      for (const one of ends.keys()) one.ref();
      await Promise.all(ends.values());
    },
  };
}

/** The store's location for the worker: a Secret cannot be sent. */
export type WorkerLocation = { readonly epoch: number } & ({ readonly path: string } | { readonly url: string });

function workerLocation({ location, epoch = 0 }: EventIngestOptions): WorkerLocation {
  return "url" in location ? { url: location.url.reveal(), epoch } : { path: location.path, epoch };
}
