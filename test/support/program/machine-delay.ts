import { startLineProcess } from "./line-process.ts";

// A sample of idle-loop.ts comes each 10 ms, and counts with these.
const resolutionMs = 10;

/**
 * Begins to measure what the machine does to a process that has nothing to do: nothing, where nothing else runs. The result
 * ends it and gives the 99th percentile of the delay of its event loop since, milliseconds.
 */
export async function measureMachineDelay(): Promise<() => Promise<number>> {
  const idle = startLineProcess("program/idle-loop.ts", []);
  idle.tell("begin");
  await idle.untilLines(1);
  return async () => {
    idle.tell("end");
    await idle.untilLines(2);
    await idle.kill();
    return Math.max(0, Number(idle.lines[1]) - resolutionMs);
  };
}
