/** Returns the system's error code, for example `ENOENT`; "" if there is none. */
export function systemCodeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}

/** Returns why a file could not be read, to follow its name: `no such file`, or the system's message. */
export function describeUnreadable(error: Error): string {
  return reasons[systemCodeOf(error)] ?? error.message;
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  EISDIR: "is a folder",
  EACCES: "permission denied",
};
