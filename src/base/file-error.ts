/** Returns the code of a system error, such as `ENOENT`; "": it has none. */
export function systemCodeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}

/** Returns why a file could not be read, to put after its name. */
export function describeUnreadable(error: Error): string {
  return reasons[systemCodeOf(error)] ?? error.message;
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  EISDIR: "is a folder",
  EACCES: "permission denied",
};
