import { describe, expect, it } from "vitest";

import { createBatch } from "./batch.ts";
import { createTracer, formatTraceparent, parseTraceparent, traceFields } from "./trace.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const parentId = "00f067aa0ba902b7";

describe("a traceparent header", () => {
  it.each([
    ["version 00, sampled", `00-${traceId}-${parentId}-01`, true],
    ["version 00, not sampled", `00-${traceId}-${parentId}-00`, false],
    ["flags beside sampled", `00-${traceId}-${parentId}-03`, true],
    ["unknown flags only", `00-${traceId}-${parentId}-fe`, false],
    ["a later version", `cc-${traceId}-${parentId}-01`, true],
    ["a later version with more fields", `cc-${traceId}-${parentId}-01-what-the-future-holds`, true],
  ])("is read: %s", (_rule, header, isSampled) => {
    expect(parseTraceparent(header)).toEqual({ traceId, parentId, isSampled });
  });

  it.each([
    ["nothing", ""],
    ["version ff", `ff-${traceId}-${parentId}-01`],
    ["version 00 with more fields", `00-${traceId}-${parentId}-01-more`],
    ["a later version with more that is no field", `cc-${traceId}-${parentId}-01more`],
    ["a version of one digit", `0-${traceId}-${parentId}-01`],
    ["a trace id of zeros", `00-${"0".repeat(32)}-${parentId}-01`],
    ["a parent id of zeros", `00-${traceId}-${"0".repeat(16)}-01`],
    ["capitals", `00-${traceId.toUpperCase()}-${parentId}-01`],
    ["digits that are not hexadecimal", `00-${traceId.replace("4", "g")}-${parentId}-01`],
    ["a short trace id", `00-${traceId.slice(1)}-${parentId}-01`],
    ["a long parent id", `00-${traceId}-${parentId}0-01`],
    ["no flags", `00-${traceId}-${parentId}`],
    ["flags of one digit", `00-${traceId}-${parentId}-1`],
    ["two headers, joined", `00-${traceId}-${parentId}-01, 00-${traceId}-${parentId}-01`],
    ["a line feed at the end", `00-${traceId}-${parentId}-01\n`],
    ["other separators", `00_${traceId}_${parentId}_01`],
  ])("is not read: %s", (_rule, header) => {
    expect(parseTraceparent(header)).toBeNull();
  });
});

describe("the tracer", () => {
  it("goes on with the caller's trace, in a span of its own", () => {
    const tracer = createTracer(() => 0.5);

    const trace = tracer.accept(`00-${traceId}-${parentId}-00`);

    expect(trace).toEqual({ traceId, spanId: "8000000080000000", parentId, isSampled: false });
    expect(tracer.within(trace, () => tracer.inTrace(() => tracer.current()))).toBe(trace);
  });

  it.each([[undefined], ["nonsense"], [[`00-${traceId}-${parentId}-01`]]])("accepts no trace from %j", (header) => {
    expect(createTracer(() => 0.5).accept(header)).toBeNull();
  });

  it("begins a new trace for work without one, with ids that are valid whatever the chance", () => {
    const tracer = createTracer(() => 0);

    const trace = tracer.inTrace(() => tracer.current());

    expect(trace).toMatchObject({ parentId: null, isSampled: true });
    expect(trace && parseTraceparent(formatTraceparent(trace))).toEqual({
      traceId: `${"0".repeat(31)}1`,
      parentId: `${"0".repeat(15)}1`,
      isSampled: true,
    });
    expect(tracer.current()).toBeNull();
  });

  it("names in the log what the platform is told", () => {
    const trace = { traceId, spanId: "8000000080000000", parentId, isSampled: true };

    expect(traceFields(trace)).toEqual({ trace_id: traceId, span_id: "8000000080000000", parent_id: parentId });
    expect(formatTraceparent(trace)).toBe(`00-${traceId}-8000000080000000-01`);
    expect(traceFields(null)).toEqual({});
  });

  it("gives work that is done for many the trace of none of them", async () => {
    const tracer = createTracer(Math.random);
    const seen: unknown[] = [];
    const share = createBatch<number, number>({
      run: async (requests) => {
        seen.push(tracer.current());
        return requests;
      },
    });

    await Promise.all([1, 2].map((one) => tracer.inTrace(() => share(one))));

    expect(seen).toEqual([null]);
  });
});
