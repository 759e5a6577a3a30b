import { decoded } from "./url.ts";

/** Returns host, port and database for messages, never user or password. */
export function postgresPlace(text: string): string {
  const url = parsePostgresUrl(text);
  if (url === null) return "(its address)";
  const hostname = url.hostname === unnamed ? "" : decoded(url.hostname);
  const host = [url.searchParams.get("host"), hostname].find((name) => name !== null && name !== "") ?? "localhost";
  const port = url.searchParams.get("port") ?? url.port;
  return `${host}${port === "" ? "" : `:${port}`}${url.pathname}`;
}

/** Returns the password, encoded and decoded; none: []. */
export function postgresPasswords(text: string): readonly string[] {
  const url = parsePostgresUrl(text);
  const found = [url?.password ?? "", url?.searchParams.get("password") ?? ""];
  return [...new Set(found.flatMap((password) => [password, decoded(password)]))].filter((form) => form !== "");
}

/**
 * Returns the URL for the driver: `allow` to `verify-ca` become `verify-full`. The driver reads them so, too, but
 * prints a warning of ten lines at each start (pg-connection-string 2.11, 2026-11); `uselibpqcompat=true` selects
 * libpq's semantics.
 */
export function driverUrl(text: string): string {
  if (/[?&]uselibpqcompat=/.test(text)) return text;
  return text.replace(/(?<=[?&]sslmode=)(?:allow|prefer|require|verify-ca)(?=&|$)/, "verify-full");
}

/** Returns the problem of a PostgreSQL URL, without the URL, which may hold a password; null: it is valid. */
export function checkPostgresUrl(text: string): string | null {
  if (!/^postgres(?:ql)?:\/\//.test(text)) return "must begin with postgres:// or postgresql://";
  if (/^\w+:\/\/(?:[^/?]*@)?[^/?@]*,[^/?@]*(?:[/?]|$)/.test(text))
    return "must name one host: an address that follows the primary, where there are several";
  const url = parsePostgresUrl(text);
  // A % without %XX: the password was not encoded.
  if (url === null || /[\s\p{Cc}#]|%(?![\da-f]{2})/iu.test(text) || url.pathname.length <= 1) return shape;
  const mode = url.searchParams.get("sslmode");
  if (mode === null || sslModes.includes(mode)) return null;
  return `must have one of these as sslmode: ${sslModes.join(", ")}`;
}

const shape =
  "must be postgres://USER:PASSWORD@HOST:PORT/DATABASE, with %XX for special characters in user and password";
// libpq's modes, and the driver's own `no-verify`: encryption without verification.
const sslModes: readonly string[] = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full", "no-verify"];

/** Also parses libpq's form without a host (socket folder in `host`), which is not a valid URL. */
function parsePostgresUrl(text: string): URL | null {
  const hosted = [text, text.replace("@/", `@${unnamed}/`)].find((form) => URL.canParse(form));
  return hosted === undefined ? null : new URL(hosted);
}

const unnamed = "_unnamed_";
