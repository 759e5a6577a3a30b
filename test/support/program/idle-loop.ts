// Does nothing but measure the delay of its own event loop: at each line on stdin it says the 99th percentile since the last
// one, in milliseconds. What it sees is what the machine does to any process at that time.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { createInterface } from "node:readline";

const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();
createInterface({ input: process.stdin }).on("line", () => {
  process.stdout.write(`${delay.percentile(99) / 1e6}\n`);
  delay.reset();
});
