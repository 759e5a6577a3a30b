const headerName = "x-api-key";
const plain = /^[\x20-\x7e]*$/;

/** Returns the key in a request's raw headers; null if `X-API-KEY` is missing, or ambiguous because it is repeated. */
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
  // Node.js decodes header bytes as Latin-1; a key in a fixture is UTF-8.
  if (plain.test(value)) return value;
  return Buffer.from(value, "latin1").toString("utf8");
}
