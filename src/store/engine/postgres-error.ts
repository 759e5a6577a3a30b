import { FlatlineError } from "../../base/errors.ts";

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const serializationFailure = "40001";
const deadlock = "40P01";

/** It may be otherwise in a moment. */
const busyCodes: Readonly<Record<string, string>> = {
  [serializationFailure]: "others changed the same rows at the same time",
  [deadlock]: "others waited for the same rows in another order",
  "25P03": "a transaction was left alone for too long",
  "53300": "it has no connection left: lower storage.poolSize, or raise its max_connections",
  "55000": "it takes no connections at the moment",
  "55P03": "others hold a lock for too long",
  "57014": "a statement took too long",
  "57P01": "it is being shut down",
  "57P02": "it is being restarted after a crash",
  "57P03": "it is starting up or shutting down",
  "57P05": "the connection was idle for too long",
  EAI_AGAIN: "its name cannot be looked up at the moment",
  ECONNREFUSED: "it refuses connections",
  ECONNRESET: "the connection was lost",
  EHOSTUNREACH: "there is no way to it",
  ENETUNREACH: "there is no way to it",
  ENOTFOUND: "no machine has its name",
  EPIPE: "the connection was lost",
  ETIMEDOUT: "it does not answer in time",
};

const unknownAuthority = "its certificate is of an authority that is not known here: name it with sslrootcert=FILE";

/** Somebody has to do something. */
const unusableCodes: Readonly<Record<string, string>> = {
  "25006": "it is read only: is it a standby?",
  "28000": "it does not let this user in",
  "28P01": "it does not take this user's password",
  "3D000": "it has no database of this name",
  "3F000": "the search_path names no schema that exists",
  "42501": "this user may not do what is needed; see the role in docs/operations.md",
  "42P07": "it holds tables of another program: give flatline a schema or a database of its own",
  "53100": "its disk is full",
  "53200": "its memory is exhausted",
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

// What pg throws without a code.
const lostConnection = /connection terminated|connection timeout|timeout exceeded|query read timeout|not queryable/i;

/** Whether the whole transaction may succeed when it is done again. */
export function isConflict(error: unknown): boolean {
  const code = codeOf(error instanceof FlatlineError ? error.cause : error);
  return code === serializationFailure || code === deadlock;
}

/** Whether nothing has been asked of the server yet and it may soon answer. */
export function isBusy(error: unknown): boolean {
  return error instanceof FlatlineError && error.code === "store_busy";
}

/** Whether the connection is of no use any more: what was asked last may still be under way on it. */
export function isLost(error: unknown): boolean {
  return error instanceof Error && lostConnection.test(error.message);
}

/**
 * An error of a statement as ours; what we do not know (a bug of ours, most likely) as it is. `place` names the server without
 * what is secret.
 */
export function statementError(error: unknown, place: string): unknown {
  if (error instanceof FlatlineError) return error;
  const code = codeOf(error);
  const busy = isSocketMissing(error) ? "nobody listens on its socket" : code === null ? undefined : busyCodes[code];
  // 08: connection exceptions.
  if (busy !== undefined || code?.startsWith("08") === true || isLost(error)) {
    const what = busy ?? "the connection was lost";
    return new FlatlineError("store_busy", `the store ${place} is not to be had: ${what}`, { cause: error });
  }
  const unusable = code === null ? undefined : unusableCodes[code];
  if (unusable === undefined) return error;
  const detail = code === "42P07" || code === "42501" ? ` (${messageOf(error)})` : "";
  return new FlatlineError("store_unusable", `the store ${place} cannot be used: ${unusable}${detail}`, {
    cause: error,
  });
}

/** An error on the way to a connection as ours, always. Its cause is left out where it could show the address. */
export function connectionError(error: unknown, place: string): FlatlineError {
  const known = statementError(error, place);
  if (known instanceof FlatlineError) return known;
  const code = codeOf(error);
  const what = code === "ERR_INVALID_URL" ? "its address cannot be read" : messageOf(error);
  return new FlatlineError("store_unusable", `the store ${place} cannot be used: ${what}`);
}

/** A server that stops takes its socket with it; other files that are missing are no socket. */
function isSocketMissing(error: unknown): boolean {
  return codeOf(error) === "ENOENT" && error instanceof Error && "syscall" in error && error.syscall === "connect";
}

function codeOf(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
