import { AsyncLocalStorage } from "node:async_hooks";

/** Where some work stands in a trace (W3C Trace Context). */
export interface Trace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** Id of this work, 16 hexadecimal digits. Requests that it sends name it as their parent. */
  readonly spanId: string;
  /** Id of the work that asked for this; null if the trace begins here. */
  readonly parentId: string | null;
  /** Whether those who are asked are to record the trace, too. */
  readonly isSampled: boolean;
}

/** Knows in which trace the current work is done. Work keeps its trace across awaits; loops and timers have none. */
export interface Tracer {
  /** Returns the trace of the current work; null if it has none. */
  current(): Trace | null;
  /** Begins a part of the caller's trace; null if its `traceparent` is absent or invalid. */
  accept(traceparent: string | string[] | undefined): Trace | null;
  /** Does `work` in `trace`, without one in none. */
  within<Result>(trace: Trace | null, work: () => Result): Result;
  /** Does `work` in the current trace, without one in a new one. */
  inTrace<Result>(work: () => Result): Result;
}

// Each part has 32 bits.
const traceWords = 4;
const spanWords = 2;

/** Creates a tracer that takes its ids from `random` (0 ≤ x < 1). */
export function createTracer(random: () => number): Tracer {
  const storage = new AsyncLocalStorage<Trace | null>();
  const idBytes = Buffer.alloc(traceWords * Uint32Array.BYTES_PER_ELEMENT);

  /** Ids of zeros only are invalid. */
  function newId(words: number): string {
    for (let word = 0; word < words; word++)
      idBytes.writeUInt32BE(Math.floor(random() * 2 ** 32), word * Uint32Array.BYTES_PER_ELEMENT);
    const id = idBytes.toString("hex", 0, words * Uint32Array.BYTES_PER_ELEMENT);
    return /[^0]/.test(id) ? id : id.replace(/0$/, "1");
  }

  const current = (): Trace | null => storage.getStore() ?? null;
  return {
    current,
    accept: (traceparent) => {
      const caller = typeof traceparent === "string" ? parseTraceparent(traceparent) : null;
      return caller === null ? null : { ...caller, spanId: newId(spanWords) };
    },
    within: (trace, work) => storage.run(trace, work),
    inTrace: (work) => {
      if (current() !== null) return work();
      // The flag says sampled: without it, a platform that follows its callers would not record the request.
      return storage.run(
        { traceId: newId(traceWords), spanId: newId(spanWords), parentId: null, isSampled: true },
        work,
      );
    },
  };
}

const grammar =
  /^(?<version>(?!ff)[\da-f]{2})-(?<traceId>(?!0{32})[\da-f]{32})-(?<parentId>(?!0{16})[\da-f]{16})-(?<flags>[\da-f]{2})(?<rest>-.*)?$/;

/** Parses a `traceparent` header (W3C Trace Context, 3.2); null if it is invalid. A later version may append fields. */
export function parseTraceparent(
  header: string,
): { readonly traceId: string; readonly parentId: string; readonly isSampled: boolean } | null {
  const { version = "", traceId = "", parentId = "", flags = "", rest } = grammar.exec(header)?.groups ?? {};
  if (traceId === "" || (version === "00" && rest !== undefined)) return null;
  return { traceId, parentId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** Returns the `traceparent` header of requests that this work sends. */
export function formatTraceparent({ traceId, spanId, isSampled }: Trace): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}

/** Returns the fields of log lines that this work writes, under the names of OpenTelemetry. */
export function traceFields(trace: Trace | null): object {
  if (trace === null) return {};
  const { traceId, spanId, parentId } = trace;
  return { trace_id: traceId, span_id: spanId, ...(parentId === null ? {} : { parent_id: parentId }) };
}
