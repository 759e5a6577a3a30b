import { Agent } from "undici";
import { afterEach, beforeEach } from "vitest";

import { startHttpSink, type HttpSink } from "./http-sink.ts";

/** A sink, what sends to it, and how it answers [204]. */
export interface SinkBench extends HttpSink {
  readonly dispatcher: Agent;
  answer: Parameters<typeof startHttpSink>[0];
}

/** A sink for each test of the file. */
export function sinkBench(): SinkBench {
  const bench = {} as SinkBench;
  beforeEach(async () => {
    const sink = await startHttpSink((...request) => bench.answer(...request));
    const accept: SinkBench["answer"] = (response) => response.writeHead(204).end();
    Object.assign(bench, sink, { dispatcher: new Agent(), answer: accept });
  });
  afterEach(async () => {
    await bench.dispatcher.destroy();
    await bench.close();
  });
  return bench;
}
