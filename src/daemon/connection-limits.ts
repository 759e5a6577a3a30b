import { readFile } from "node:fs/promises";

// Each connection takes some ten kilobytes before its first request; containers often have a million descriptors.
const mostConnections = 4_096;

/**
 * Returns how many connections the server takes: at most half of the process's descriptors, so that deliveries, sources and
 * the store always find one. Where the system does not report how many there are (it does on Linux), this limit is all.
 */
export async function connectionLimit(): Promise<number> {
  const text = await readFile("/proc/self/limits", "utf8").catch(() => "");
  const found = /^Max open files +(\d+)/m.exec(text)?.[1];
  const descriptors = found === undefined ? Infinity : Number(found);
  return Math.min(mostConnections, Math.floor(descriptors / 2));
}
