import { isMainThread, parentPort, workerData } from "node:worker_threads";

import { asFlatlineError } from "../../base/errors.ts";
import { createSystemClock } from "../../base/time.ts";
import { Secret } from "../../base/secret.ts";
import { openEventDatabase } from "./sqlite/import-file.ts";
import type { IngestReply, IngestRequest, WorkerLocation } from "./ingest.ts";
import { createEventPosts, type EventPosts } from "./sqlite/posts.ts";

// The worker's side of ingest.ts: one request at a time, in order.

if (!isMainThread && parentPort !== null) {
  const port = parentPort;
  const location = workerData as WorkerLocation;
  const stopping = new AbortController();
  let posts: EventPosts | null = null;
  let previous: Promise<void> = Promise.resolve();

  const openPosts = async (): Promise<EventPosts> => {
    const shared = { clock: createSystemClock(), signal: stopping.signal };
    if ("url" in location) {
      // Loaded on demand.
      const { createPostgresEventPosts } = await import("./postgres/posts.ts");
      return createPostgresEventPosts({ location: { url: new Secret(location.url) }, ...shared });
    }
    return createEventPosts({ db: openEventDatabase(location.path), databasePath: location.path, ...shared });
  };

  const answer = async (request: IngestRequest): Promise<IngestReply> => {
    const { id } = request;
    try {
      if (request.kind === "close") {
        await posts?.close();
        return { kind: "closed", id };
      }
      posts ??= await openPosts();
      if (request.kind === "clean") return { kind: "cleaned", id, removed: await posts.clean() };
      return {
        kind: "posted",
        id,
        outcome: await posts.store(request.body, request.idempotencyKey, request.organizations),
      };
    } catch (error) {
      const { code, message, issues } = asFlatlineError(error);
      return { kind: "failed", id, code, message, issues };
    }
  };

  port.on("message", (request: IngestRequest) => {
    // Aborts the current work, so that it does not delay the stop.
    if (request.kind === "close") stopping.abort();
    previous = previous.then(async () => port.postMessage(await answer(request)));
  });
}
