import { isMainThread, parentPort, workerData } from "node:worker_threads";

import { createSystemClock } from "../../base/time.ts";
import { Secret } from "../../base/secret.ts";
import { eventsPathOf } from "../engine/location.ts";
import { openEventDatabase } from "./sqlite/import-file.ts";
import type { IngestRequest, WorkerLocation } from "./ingest.ts";
import { createIngestAnswers } from "./ingest-answers.ts";
import { createEventPosts, type EventPosts } from "./sqlite/posts.ts";

// The worker's side of ingest.ts.

if (!isMainThread && parentPort !== null) {
  const port = parentPort;
  const location = workerData as WorkerLocation;
  const clock = createSystemClock();

  const openPosts = async (signal: AbortSignal): Promise<EventPosts> => {
    const shared = { clock, signal };
    if ("url" in location) {
      // Loaded on demand.
      const { createPostgresEventPosts } = await import("./postgres/posts.ts");
      return createPostgresEventPosts({ location: { url: new Secret(location.url) }, ...shared });
    }
    const databasePath = eventsPathOf(location.path);
    return createEventPosts({ db: openEventDatabase(databasePath), databasePath, ...shared });
  };

  const answer = createIngestAnswers(openPosts, clock);
  const reply = async (request: IngestRequest): Promise<void> => {
    port.postMessage(await answer(request));
    // Nothing keeps the thread alive after its last answer.
    if (request.kind === "close") port.close();
  };
  port.on("message", (request: IngestRequest) => void reply(request));
}
