import { ClickHouseError } from "@clickhouse/client";
import { FlatlineError, type ErrorCode } from "../base/errors.ts";
import { redact, type Secret } from "../base/secret.ts";

// Codes of ClickHouse's src/Common/ErrorCodes.cpp. Other codes are server errors.
const codesOf: Readonly<Partial<Record<ErrorCode, string>>> = {
  api_timeout: "159 160 209 394 473",
  api_unauthorized: "192 193 194 516",
  api_forbidden: "164 195 291 392 452 497",
  api_network: "198 210 279",
  // Syntax errors, unknown names and functions, type mismatches: errors of the configuration.
  api_bad_request:
    "6 10 16 20 26 27 32 36 38 41 42 43 44 46 47 48 50 53 60 62 63 69 70 72 81 115 130 179 184 207 215 352 386 403 407 456 457 636",
};
const codes: ReadonlyMap<string, ErrorCode> = new Map(
  Object.entries(codesOf).flatMap(([code, numbers]) =>
    numbers.split(" ").map((number) => [number, code as ErrorCode] as const),
  ),
);

/** Maps an error of the ClickHouse client to the reasons of a check (CONTRACT 6), without the connection's secrets. */
export function clickhouseError(error: unknown, secrets: readonly Secret[]): FlatlineError {
  if (error instanceof FlatlineError) return error;
  const message = redact(error instanceof Error ? error.message : String(error), secrets)
    .replace(ownQuery, "")
    .trim()
    .slice(0, longest);
  const fail = (code: ErrorCode, text: string): FlatlineError =>
    new FlatlineError(code, `ClickHouse: ${text}`, { cause: error });
  if (error instanceof ClickHouseError) {
    return fail(
      codes.get(error.code) ?? "api_server_error",
      `${message} (code ${error.code}, ${error.type ?? "unnamed"})${timeGuard.test(message) ? timeHint : ""}`,
    );
  }
  if (error instanceof SyntaxError) return fail("api_invalid_response", `the answer is not JSON: ${message}`);
  if (/^timeout/i.test(message)) return fail("api_timeout", "it did not answer in time");
  if (error instanceof Error && "code" in error && typeof error.code === "string") {
    return fail(error.code === "ETIMEDOUT" ? "api_timeout" : "api_network", message === "" ? error.code : message);
  }
  if (/socket hang up|ECONN|aborted/i.test(message)) return fail("api_network", message);
  return fail("api_server_error", message);
}

// See typeGuard in clickhouse-sql.
const timeGuard = /illegal type .* function (?:toYear|abs)\b/i;
const timeHint = "; check source.timeUnit, the unit of the time column";
// The server repeats the whole query before its suggestion.
const ownQuery = /[.,]?\s+in scope (?:SELECT|WITH)\b[\s\S]*?(?=\. Maybe you meant|$)/gi;
// A proxy may answer with an HTML page.
const longest = 500;
