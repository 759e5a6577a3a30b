import { isMainThread, parentPort, workerData } from "node:worker_threads";

import { Secret } from "../../base/secret.ts";
import { createSystemClock } from "../../base/time.ts";
import { openEventDatabase } from "./database.ts";
import { createIngestAnswers, type IngestRequest } from "./ingest-answers.ts";
import { createEventPosts, type EventPosts } from "./posts.ts";
import type { WorkerLocation } from "./thread.ts";

// The worker's side of thread.ts.

if (!isMainThread && parentPort !== null) {
  const port = parentPort;
  const given = workerData as WorkerLocation;
  const clock = createSystemClock();

  const openPosts = async (signal: AbortSignal): Promise<EventPosts> => {
    const location = "url" in given ? { url: new Secret(given.url) } : given;
    return createEventPosts({ db: await openEventDatabase(location, { clock, epoch: given.epoch }), clock, signal });
  };

  const answer = createIngestAnswers(openPosts, clock);
  const reply = async (request: IngestRequest): Promise<void> => {
    port.postMessage(await answer(request));
    // Nothing keeps the thread alive after its last answer.
    if (request.kind === "close") port.close();
  };
  port.on("message", (request: IngestRequest) => void reply(request));
}
