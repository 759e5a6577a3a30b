import { FlatlineError, type ErrorCode } from "../base/errors.ts";
import { redact, type Secret } from "../base/secret.ts";

// SQLSTATE codes (PostgreSQL manual, appendix A): single codes first, then classes.
const byState: Readonly<Record<string, ErrorCode>> = {
  "57014": "api_timeout",
  "25P03": "api_timeout",
  "25P04": "api_timeout",
  "57P01": "api_network",
  "57P02": "api_network",
  "57P03": "api_network",
  "57P05": "api_network",
  "42501": "api_forbidden",
  "25006": "api_forbidden",
  "3D000": "api_bad_request",
  "3F000": "api_bad_request",
};
const byClass: Readonly<Record<string, ErrorCode>> = {
  "08": "api_network",
  "22": "api_bad_request",
  "28": "api_unauthorized",
  "42": "api_bad_request",
  "0A": "api_bad_request",
};
const undefinedFunction = "42883";
const timeComparison = / > (?:timestamp with time zone|bigint);/;
const timeHint = "; check source.timeUnit, the unit of the time column";
const timeoutText = /timeout exceeded|timed? ?out/i;
const authenticationText = /password must be a|SASL|no pg_hba/i;

/** Maps an error of the pg driver to the reasons of a check (CONTRACT 6), without the connection's secrets. */
export function postgresError(error: unknown, secrets: readonly Secret[]): FlatlineError {
  if (error instanceof FlatlineError) return error;
  const message = redact(error instanceof Error ? describe(error) : String(error), secrets);
  const state = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  const isState = /^[0-9A-Z]{5}$/.test(state) && error instanceof Error && "severity" in error;
  if (isState) {
    const code = byState[state] ?? byClass[state.slice(0, 2)] ?? "api_server_error";
    const hint = state === undefinedFunction && timeComparison.test(message) ? timeHint : "";
    return new FlatlineError(code, `PostgreSQL: ${message} (SQLSTATE ${state})${hint}`, { cause: error });
  }
  const code = state === "ETIMEDOUT" || timeoutText.test(message) ? "api_timeout" : "api_network";
  const isRefused = authenticationText.test(message);
  return new FlatlineError(isRefused ? "api_unauthorized" : code, `PostgreSQL: ${message}`, { cause: error });
}

/**
 * Describes the error; a connection that was tried at several addresses fails with one error each, and without a message.
 */
function describe(error: Error): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  if (error.message === "" && first instanceof Error) return first.message;
  return "hint" in error && typeof error.hint === "string" ? `${error.message}; ${error.hint}` : error.message;
}
