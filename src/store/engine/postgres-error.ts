import { FlatlineError, messageOf } from "../../base/errors.ts";

// SQLSTATEs, https://www.postgresql.org/docs/current/errcodes-appendix.html, and codes of Node's. 08: the connection;
// 40: another transaction; 57: a timeout, a restart. ENOENT: a server that stops removes its socket.
const passing =
  /^(?:08...|40...|57...|25P03|53300|55000|55P03|EAI_AGAIN|ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ENOENT|ENOTFOUND|EPIPE|ETIMEDOUT)$/;
// An operator must change these: credentials, database, schema, privileges, tables of others, disk, memory, damage.
const lasting = /^(?:25006|28...|3D000|3F000|42501|42P07|53...|XX00[12])$/;

const trust = "set sslrootcert=FILE";
/** Advice where the server's own message has none. */
const hints: Readonly<Record<string, string>> = {
  "25006": "is it a standby?",
  "42501": "see the role in docs/operations.md",
  "42P07": "it contains tables of another program: give flatline a schema or a database of its own",
  "53300": "lower storage.poolSize, or raise its max_connections",
  DEPTH_ZERO_SELF_SIGNED_CERT: trust,
  SELF_SIGNED_CERT_IN_CHAIN: trust,
  UNABLE_TO_GET_ISSUER_CERT: trust,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: trust,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: trust,
};

// Errors that pg throws without a code.
const lostConnection = /connection terminated|connection timeout|timeout exceeded|query read timeout|not queryable/i;

/** Returns whether the connection failed before a query, for a temporary reason. */
export function isBusy(error: unknown): boolean {
  return error instanceof FlatlineError && error.code === "store_busy";
}

/** Returns whether the connection is unusable; its last statement may still be running. */
export function isLost(error: unknown): boolean {
  return error instanceof Error && lostConnection.test(error.message);
}

/**
 * Maps the error of a statement to a FlatlineError; an unknown error (most likely a bug) is returned as it is. `place`
 * names the server without secrets.
 */
export function statementError(error: unknown, place: string): unknown {
  if (error instanceof FlatlineError) return error;
  const code = codeOf(error);
  const isMissingFile =
    code === "ENOENT" && !(error instanceof Error && "syscall" in error && error.syscall === "connect");
  if ((passing.test(code) && !isMissingFile) || isLost(error))
    return new FlatlineError("store_busy", `the store ${place} is unavailable: ${whatIs(error)}`, { cause: error });
  if (!lasting.test(code)) return error;
  return new FlatlineError("store_unusable", `the store ${place} cannot be used: ${whatIs(error)}`, { cause: error });
}

/** Maps an error of connecting to a FlatlineError. The cause is omitted if it could contain the address. */
export function connectionError(error: unknown, place: string): FlatlineError {
  const known = statementError(error, place);
  if (known instanceof FlatlineError) return known;
  const what = codeOf(error) === "ERR_INVALID_URL" ? "its address is invalid" : whatIs(error);
  return new FlatlineError("store_unusable", `the store ${place} cannot be used: ${what}`);
}

function whatIs(error: unknown): string {
  const code = codeOf(error);
  const hint = hints[code];
  // The error of a host with several addresses has no message.
  return `${messageOf(error) || code}${hint === undefined ? "" : `; ${hint}`}`;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
