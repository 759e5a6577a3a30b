import type { OutgoingHttpHeaders, ServerResponse } from "node:http";

import { startHttpSink, type ReceivedRequest } from "./http-sink.ts";

/** What the upstream does with one request, once it has read it to its end. */
export type ScriptedStep =
  | {
      readonly kind: "answer";
      /** [200] */
      readonly status?: number;
      readonly headers?: OutgoingHttpHeaders;
      /** A string as it is, anything else as JSON [nothing]. */
      readonly body?: unknown;
      /** The answer waits for it: a delay that the test ends. */
      readonly after?: Promise<unknown>;
    }
  /** Resets the connection instead of an answer. */
  | { readonly kind: "reset" }
  /** Closes the connection in order instead of an answer. */
  | { readonly kind: "close" }
  /** Announces the whole body, sends the first half and resets. */
  | { readonly kind: "truncated"; readonly body: unknown }
  /** Sends a body without end, as fast as it is read. */
  | { readonly kind: "endless"; readonly status?: number; readonly chunk?: string }
  /** Never answers; with `body`, sends the head and that much. */
  | { readonly kind: "hang"; readonly body?: string }
  /** Sends bytes that are no HTTP. */
  | { readonly kind: "raw"; readonly bytes: string };

export interface ScriptedUpstream {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  /** The origin with /api/v2. */
  readonly baseUrl: string;
  readonly requests: readonly ReceivedRequest[];
  /** Adds steps: each serves one request, in order. */
  script(...steps: readonly ScriptedStep[]): void;
  /** Serves what no step is left for, instead of calling it unexpected: for daemons, which ask when they like. */
  otherwise(step: (request: ReceivedRequest) => ScriptedStep): void;
  /** Resolves when `count` requests came in all. */
  received(count: number): Promise<void>;
  /** Closes it and throws when a request came that nobody scripted, or a step is left. */
  close(): Promise<void>;
}

/** A real HTTP server on 127.0.0.1 that answers as told. */
export async function startScriptedUpstream(): Promise<ScriptedUpstream> {
  const steps: ScriptedStep[] = [];
  const unexpected: string[] = [];
  const waiting = new Set<{ readonly count: number; readonly resolve: () => void }>();
  let fallback: ((request: ReceivedRequest) => ScriptedStep) | null = null;

  function nextStep(request: ReceivedRequest): ScriptedStep {
    const step = steps.shift() ?? fallback?.(request);
    if (step !== undefined) return step;
    unexpected.push(`${request.method} ${request.path}`);
    return { kind: "answer", status: 599, body: "nobody scripted this request" };
  }

  function note(count: number): void {
    for (const waiter of waiting) {
      if (count < waiter.count) continue;
      waiting.delete(waiter);
      waiter.resolve();
    }
  }

  const sink = await startHttpSink((outgoing, request, index) => {
    const step = nextStep(request);
    note(index + 1);
    // It fails only when the client goes away: then there is nobody to answer.
    perform(step, outgoing).catch(() => outgoing.destroy());
  });

  return {
    origin: sink.url,
    baseUrl: `${sink.url}/api/v2`,
    requests: sink.requests,
    script: (...more) => {
      steps.push(...more);
    },
    otherwise: (step) => {
      fallback = step;
    },
    received: (count) =>
      new Promise((resolve) => {
        if (sink.requests.length >= count) resolve();
        else waiting.add({ count, resolve });
      }),
    close: async () => {
      await sink.close();
      if (unexpected.length > 0) throw new Error(`requests that nobody scripted: ${unexpected.join(", ")}`);
      if (steps.length > 0) throw new Error(`${steps.length} scripted steps were not used`);
    },
  };
}

async function perform(step: ScriptedStep, outgoing: ServerResponse): Promise<void> {
  switch (step.kind) {
    case "answer":
      await step.after;
      if (outgoing.destroyed) return;
      outgoing.writeHead(step.status ?? 200, { "content-type": "application/json", ...step.headers });
      outgoing.end(asText(step.body));
      return;
    case "reset":
      outgoing.socket?.resetAndDestroy();
      return;
    case "close":
      outgoing.socket?.end();
      return;
    case "truncated": {
      const text = asText(step.body);
      outgoing.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
      outgoing.write(text.slice(0, Math.floor(text.length / 2)), () => outgoing.socket?.resetAndDestroy());
      return;
    }
    case "endless": {
      const chunk = step.chunk ?? "x".repeat(65_536);
      outgoing.writeHead(step.status ?? 200, { "content-type": "application/json" });
      const pump = (): void => {
        while (!outgoing.destroyed && outgoing.write(chunk));
      };
      outgoing.on("drain", pump);
      pump();
      return;
    }
    case "hang":
      if (step.body === undefined) return;
      outgoing.writeHead(200, { "content-type": "application/json" });
      outgoing.write(step.body);
      return;
    case "raw":
      outgoing.socket?.end(step.bytes);
  }
}

function asText(body: unknown): string {
  if (body === undefined) return "";
  return typeof body === "string" ? body : JSON.stringify(body);
}
