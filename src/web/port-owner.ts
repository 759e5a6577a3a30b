import { readdir, readFile, readlink } from "node:fs/promises";

// TCP_LISTEN in a row of /proc/net/tcp (proc(5)).
const listening = "0A";
const longestCommand = 80;

/**
 * Returns which process listens on a TCP port of this machine, as `process 4242 (node bin/flatline.js)`; null where that cannot be
 * known: it is another user's, or the system has no /proc.
 */
export async function findPortOwner(port: number): Promise<string | null> {
  const sockets = await listeningSockets(port);
  if (sockets.size === 0) return null;
  for (const pid of await listOf("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    for (const fd of await listOf(`/proc/${pid}/fd`)) {
      const target = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => "");
      if (sockets.has(target)) return `process ${pid}${await commandOf(pid)}`;
    }
  }
  return null;
}

/** The sockets that listen on a port, as the links of /proc/PID/fd name them. */
async function listeningSockets(port: number): Promise<ReadonlySet<string>> {
  const hexPort = port.toString(16).toUpperCase().padStart(4, "0");
  const tables = await Promise.all(["tcp", "tcp6"].map((name) => textOf(`/proc/net/${name}`)));
  return new Set(
    tables.flatMap((table) =>
      table.split("\n").flatMap((row) => {
        const [, local = "", , state, , , , , , inode] = row.trim().split(/\s+/);
        return state === listening && local.endsWith(`:${hexPort}`) ? [`socket:[${inode}]`] : [];
      }),
    ),
  );
}

/** The program and its first argument: the others may hold secrets. */
async function commandOf(pid: string): Promise<string> {
  const words = (await textOf(`/proc/${pid}/cmdline`)).split("\0").slice(0, 2).join(" ").trim();
  return words === "" ? "" : ` (${words.slice(0, longestCommand)})`;
}

const textOf = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "");
const listOf = (path: string): Promise<readonly string[]> => readdir(path).catch(() => []);
