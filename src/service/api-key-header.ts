/**
 * The key that a request carries, of its raw header lines; null when there is none, or more than one `X-API-KEY`: then
 * nobody can say which one was meant.
 */
export function apiKeyOf(rawHeaders: readonly string[]): string | null {
  const values = rawHeaders.filter(
    (_text, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === "x-api-key",
  );
  const [value] = values;
  if (value === undefined || value === "" || values.length > 1) return null;
  // Node.js reads header bytes as Latin-1; a key in a fixture is UTF-8.
  return Buffer.from(value, "latin1").toString("utf8");
}
