/** How messages may name the server: host, port and database, never user or password. */
export function postgresPlace(text: string): string {
  const url = parsePostgresUrl(text);
  if (url === null) return "(its address)";
  const hostname = url.hostname === unnamed ? "" : decoded(url.hostname);
  const host = [url.searchParams.get("host"), hostname].find((name) => name !== null && name !== "") ?? "localhost";
  const port = url.searchParams.get("port") ?? url.port;
  return `${host}${port === "" ? "" : `:${port}`}${url.pathname}`;
}

/** The password of an address as it stands there and as it is meant; none without one. */
export function postgresPasswords(text: string): readonly string[] {
  const url = parsePostgresUrl(text);
  const found = [url?.password ?? "", url?.searchParams.get("password") ?? ""];
  return [...new Set(found.flatMap((password) => [password, decoded(password)]))].filter((form) => form !== "");
}

/**
 * The address as the driver is given it. It takes these modes for verify-full, too, but writes a warning of ten lines to the
 * standard error at each start (pg-connection-string 2.11, 2026-11); `uselibpqcompat=true` asks it for libpq's meaning.
 */
export function driverUrl(text: string): string {
  if (/[?&]uselibpqcompat=/.test(text)) return text;
  return text.replace(/(?<=[?&]sslmode=)(?:allow|prefer|require|verify-ca)(?=&|$)/, "verify-full");
}

/** What is wrong with the address of a PostgreSQL; null when nothing is. Never shows it: it may hold a password. */
export function checkPostgresUrl(text: string): string | null {
  if (!/^postgres(?:ql)?:\/\//.test(text)) return "must begin with postgres:// or postgresql://";
  if (/^\w+:\/\/(?:[^/?]*@)?[^/?@]*,[^/?@]*(?:[/?]|$)/.test(text))
    return "must name one host: an address that follows the primary, where there are several";
  const url = parsePostgresUrl(text);
  // A % that begins no %XX is a password that nobody encoded.
  if (url === null || /[\s\p{Cc}#]|%(?![\da-f]{2})/iu.test(text) || url.pathname.length <= 1) return shape;
  const mode = url.searchParams.get("sslmode");
  if (mode === null || sslModes.includes(mode)) return null;
  return `must have one of these as sslmode: ${sslModes.join(", ")}`;
}

const shape =
  "must be postgres://USER:PASSWORD@HOST:PORT/DATABASE, with %XX for special characters in user and password";
// libpq's, and the driver's own for a connection that is encrypted to whomever.
const sslModes: readonly string[] = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full", "no-verify"];

/** libpq's form without a host, for a socket's folder in `host`, is none of the URL standard's. */
function parsePostgresUrl(text: string): URL | null {
  const hosted = [text, text.replace("@/", `@${unnamed}/`)].find((form) => URL.canParse(form));
  return hosted === undefined ? null : new URL(hosted);
}

const unnamed = "_unnamed_";

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A lone %: it stands for itself.
    return text;
  }
}
