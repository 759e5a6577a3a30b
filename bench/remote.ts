import type { Benchmark, Side } from "./harness/benchmark.ts";
import { everySecond, measureChecks } from "./processes.ts";
import { blackbox, startUpstream } from "./remote/blackbox.ts";

// More than can be checked each second: otherwise the daemon would not be as busy as the exporter.
const organizations = 10_000;

/** The real daemon with a remote source. */
const flatline: Side = {
  name: "flatline",
  start: async (quick, releases) => {
    const { source } = await startUpstream(releases);
    return () => measureChecks({ config: `${source}\n${everySecond(quick ? 20 : organizations)}`, quick });
  },
};

/** The rows of docs/comparison.md about a remote source. */
export const benchmark: Benchmark = {
  name: "remote",
  title: "Remote checks per CPU second: scheduled, asked, validated, verdict stored, alert decided, series updated",
  metrics: [{ name: "checks", title: "checks", unit: "per CPU second", better: "more" }],
  sides: [flatline, blackbox],
  repetitions: 3,
  goals: [
    {
      title: "checks of a remote source per CPU second",
      metric: "checks",
      peer: blackbox.name,
      bound: "at least",
      goal: 5,
    },
  ],
};
