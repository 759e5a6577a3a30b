import { isMainThread, parentPort, workerData } from "node:worker_threads";

import { asFlatlineError } from "../base/errors.ts";
import { createSystemClock } from "../base/time.ts";
import { openEventDatabase } from "./event-import.ts";
import type { IngestReply, IngestRequest } from "./event-ingest.ts";
import { createEventPosts, type EventPosts } from "./event-posts.ts";

// The thread's side of event-ingest.ts: one request at a time, in the order in which they came.

if (!isMainThread && parentPort !== null) {
  const port = parentPort;
  const { databasePath } = workerData as { readonly databasePath: string };
  const stopping = new AbortController();
  let posts: EventPosts | null = null;
  let previous: Promise<void> = Promise.resolve();

  const answer = async (request: IngestRequest): Promise<IngestReply> => {
    const { id } = request;
    try {
      if (request.kind === "close") {
        posts?.close();
        return { kind: "closed", id };
      }
      posts ??= createEventPosts({
        db: openEventDatabase(databasePath),
        databasePath,
        clock: createSystemClock(),
        signal: stopping.signal,
      });
      if (request.kind === "clean") return { kind: "cleaned", id, removed: await posts.clean() };
      return { kind: "posted", id, outcome: await posts.store(request.body, request.idempotencyKey) };
    } catch (error) {
      const { code, message, issues } = asFlatlineError(error);
      return { kind: "failed", id, code, message, issues };
    }
  };

  port.on("message", (request: IngestRequest) => {
    // What is under way is given up, so that the stop does not wait for it.
    if (request.kind === "close") stopping.abort();
    previous = previous.then(async () => port.postMessage(await answer(request)));
  });
}
