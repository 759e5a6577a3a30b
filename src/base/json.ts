/** Returns null for a text that is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

/** Changes each text of a JSON value, names of keys included. */
export function mapTexts<Value>(value: Value, change: (text: string) => string): Value;
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => mapTexts<unknown>(one, change));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [change(name), mapTexts<unknown>(one, change)]));
}
