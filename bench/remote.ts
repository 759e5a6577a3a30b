import type { Benchmark, Side } from "./harness/benchmark.ts";
import { blackbox, concurrency, type Connections } from "./blackbox.ts";
import { startScript } from "./harness/child.ts";
import { everySecond, measureDaemon } from "./daemon.ts";

// As long on a busy machine: its hot functions are compiled on the other core.
const warmUpMs = 20_000;
// More than can be checked each second: with time left between the ticks, the daemon would not be busy as the exporter is.
const organizations = 10_000;

/** The real daemon with a remote source; the upstream keeps its connections, or ends each. */
function flatline(connections: Connections): Side {
  return {
    name: `flatline, ${connections}`,
    kind: "flatline",
    start: async ({ quick }) => {
      const upstream = startScript("harness/upstream.ts", [connections]);
      const port = await upstream.line();
      const source = `source: { type: remote, baseUrl: "http://127.0.0.1:${port}/api/v2", apiKey: benchmark-key, concurrency: ${concurrency} }`;
      const config = `${source}\n${everySecond(quick ? 20 : organizations)}`;
      return { measure: () => measureDaemon({ config, quick, warmUpMs }), stop: () => upstream.stop() };
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
      title: "remote checks, keep-alive",
      of: { side: "flatline, keep-alive" },
      by: { side: "blackbox_exporter, keep-alive" },
      bound: "at least",
      goal: 5,
      moonshot: 8,
    },
    {
      title: "remote checks, keep-alive off",
      of: { side: "flatline, close" },
      by: { side: "blackbox_exporter, close" },
      bound: "at least",
      goal: 1.8,
      moonshot: 3,
    },
  ],
};
