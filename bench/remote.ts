import type { Benchmark, Side } from "./harness/benchmark.ts";
import { everySecond, measureChecks } from "./processes.ts";
import { blackbox, startUpstream, type Connections } from "./remote/blackbox.ts";

// More than can be checked each second: with time left between the ticks, the daemon would not be busy as the exporter is.
const organizations = 10_000;

/** The real daemon with a remote source; the upstream keeps its connections, or ends each. */
function flatline(connections: Connections): Side {
  return {
    name: `flatline, ${connections}`,
    start: async (quick, releases) => {
      const { source } = await startUpstream(connections, releases);
      return () => measureChecks({ config: `${source}\n${everySecond(quick ? 20 : organizations)}`, quick });
    },
  };
}

/** The rows of docs/benchmarks.md about a remote source. */
export const benchmark: Benchmark = {
  name: "remote",
  title: "Remote checks per CPU second: scheduled, asked, validated, verdict stored, alert decided, series updated",
  metrics: [{ name: "checks", title: "checks", unit: "per CPU second", better: "more" }],
  sides: [flatline("keep-alive"), blackbox("keep-alive"), flatline("close"), blackbox("close")],
  repetitions: 3,
  goals: [
    {
      title: "checks of a remote source per CPU second",
      metric: "checks",
      side: "flatline, keep-alive",
      peer: "blackbox_exporter, keep-alive",
      bound: "at least",
      goal: 5,
      moonshot: 8,
    },
    {
      title: "the same without keep-alive",
      metric: "checks",
      side: "flatline, close",
      peer: "blackbox_exporter, close",
      bound: "at least",
      goal: 1.8,
      moonshot: 3,
    },
  ],
};
