import { describe, expect, it } from "vitest";

import { renderTrace, type FleetData } from "./fleet.ts";

const fleet = (trace: FleetData["trace"], spiking: number): FleetData => ({
  spiking,
  withResult: 0,
  from: null,
  verdict: null,
  trace,
  traceVerdicts: trace.map(() => false),
  flatSinceMs: null,
  pastShare: 1,
});

describe("the trace", () => {
  it("draws no line and says no number where nothing is known", () => {
    const { html } = renderTrace(fleet([null, null], 0));

    expect(html).not.toContain('class="line"');
    expect(html).toContain("no result yet");
  });

  it("breaks for the hours of which nothing is known", () => {
    const { html } = renderTrace(fleet([1, null, 0, 0], 0));

    expect(/class="line" d="([^"]*)"/.exec(html)?.[1]?.match(/M/g)).toHaveLength(2);
    expect(html).toContain("0 now");
  });
});
