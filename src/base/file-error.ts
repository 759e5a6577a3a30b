/** The system's code of an error, such as `ENOENT`; "" without one. */
export function systemCodeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}

/** Why an input file could not be read, to follow its name: `no such file`, `is a folder`, else what the system says. */
export function describeUnreadable(error: Error): string {
  return reasons[systemCodeOf(error)] ?? error.message;
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  EISDIR: "is a folder",
  EACCES: "permission denied",
};
