import { FlatlineError, messageOf } from "../../base/errors.ts";

// https://www.postgresql.org/docs/current/errcodes-appendix.html

/** Temporary conditions. */
const busyCodes: Readonly<Record<string, string>> = {
  "40001": "other transactions changed the same rows",
  "40P01": "deadlock with another transaction",
  "25P03": "a transaction was idle for too long",
  "53300": "it has no connection left: lower storage.poolSize, or raise its max_connections",
  "55000": "it accepts no connections at the moment",
  "55P03": "another transaction held a lock for too long",
  "57014": "a statement took too long",
  "57P01": "it is being shut down",
  "57P02": "it is being restarted after a crash",
  "57P03": "it is starting up or shutting down",
  "57P05": "the connection was idle for too long",
  EAI_AGAIN: "its host name cannot be resolved at the moment",
  ECONNREFUSED: "it refuses connections",
  ECONNRESET: "the connection was lost",
  EHOSTUNREACH: "no route to it",
  ENETUNREACH: "no route to it",
  ENOTFOUND: "its host name does not exist",
  EPIPE: "the connection was lost",
  ETIMEDOUT: "it does not answer in time",
};

const unknownAuthority = "its certificate is signed by an unknown authority: set sslrootcert=FILE";

/** Conditions that an operator must change. */
const unusableCodes: Readonly<Record<string, string>> = {
  "25006": "it is read-only: is it a standby?",
  "28000": "it refuses this user",
  "28P01": "it refuses this user's password",
  "3D000": "the database does not exist",
  "3F000": "no schema of the search_path exists",
  "42501": "this user lacks privileges; see the role in docs/operations.md",
  "42P07": "it contains tables of another program: give flatline a schema or a database of its own",
  "53100": "its disk is full",
  "53200": "it is out of memory",
  XX001: "it is damaged",
  XX002: "it is damaged",
  CERT_HAS_EXPIRED: "its certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host name",
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
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
 * Maps the error of a statement to a FlatlineError; an unknown error (most likely a bug) is returned as it is. `place` names
 * the server without secrets.
 */
export function statementError(error: unknown, place: string): unknown {
  if (error instanceof FlatlineError) return error;
  const code = codeOf(error);
  const busy = isSocketMissing(error) ? "no server listens on its socket" : code === null ? undefined : busyCodes[code];
  // 08: connection exceptions.
  if (busy !== undefined || code?.startsWith("08") === true || isLost(error)) {
    const what = busy ?? "the connection was lost";
    return new FlatlineError("store_busy", `the store ${place} is unavailable: ${what}`, { cause: error });
  }
  const unusable = code === null ? undefined : unusableCodes[code];
  if (unusable === undefined) return error;
  const detail = code === "42P07" || code === "42501" ? ` (${messageOf(error)})` : "";
  return new FlatlineError("store_unusable", `the store ${place} cannot be used: ${unusable}${detail}`, {
    cause: error,
  });
}

/** Maps an error of connecting to a FlatlineError. The cause is omitted if it could contain the address. */
export function connectionError(error: unknown, place: string): FlatlineError {
  const known = statementError(error, place);
  if (known instanceof FlatlineError) return known;
  const code = codeOf(error);
  const what = code === "ERR_INVALID_URL" ? "its address is invalid" : messageOf(error);
  return new FlatlineError("store_unusable", `the store ${place} cannot be used: ${what}`);
}

/** Returns whether the error is a missing socket: a server that stops removes it. */
function isSocketMissing(error: unknown): boolean {
  return codeOf(error) === "ENOENT" && error instanceof Error && "syscall" in error && error.syscall === "connect";
}

function codeOf(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}
