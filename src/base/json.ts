/** Returns what a text says as JSON; null where it is none, for a schema to refuse. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
