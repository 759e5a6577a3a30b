/** zod's names of types, as people who write YAML or JSON know them. */
export const typeNouns: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "a list",
};

/** What a value is, to follow "not": `null`, `true`, `a list`. */
export function nounOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "boolean") return String(value);
  return typeNouns[typeof value] ?? typeof value;
}
