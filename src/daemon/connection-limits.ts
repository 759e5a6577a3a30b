import { readFile } from "node:fs/promises";

import type { ConnectionLimits } from "../web/front.ts";

// Each stream costs a descriptor and a share of every change; an operations room with a screen on every desk has fewer.
const mostStreams = 100;

// Each connection takes some ten kilobytes before its first request; containers often have a million descriptors.
const mostConnections = 4_096;

/**
 * Returns how many connections the server takes: at most half of the process's descriptors, and half of these for streams of
 * the page, so that health checks, deliveries, sources and the store always find one. Where the system does not report how many
 * there are (it does on Linux), these two limits are all.
 */
export async function connectionLimits(): Promise<ConnectionLimits> {
  const text = await readFile("/proc/self/limits", "utf8").catch(() => "");
  const found = /^Max open files +(\d+)/m.exec(text)?.[1];
  const descriptors = found === undefined ? Infinity : Number(found);
  return {
    streams: Math.min(mostStreams, Math.floor(descriptors / 4)),
    connections: Math.min(mostConnections, Math.floor(descriptors / 2)),
  };
}
