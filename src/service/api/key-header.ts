const headerName = "x-api-key";
const plain = /^[\x20-\x7e]*$/;

/**
 * The key that a request carries, of its raw header lines; null when there is none, or more than one `X-API-KEY`: then
 * nobody can say which one was meant.
 */
export function apiKeyOf(rawHeaders: readonly string[]): string | null {
  let value = "";
  let lines = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length !== headerName.length || name.toLowerCase() !== headerName) continue;
    lines++;
    value = rawHeaders[index + 1] ?? "";
  }
  if (value === "" || lines > 1) return null;
  // Node.js reads header bytes as Latin-1; a key in a fixture is UTF-8.
  if (plain.test(value)) return value;
  return Buffer.from(value, "latin1").toString("utf8");
}
