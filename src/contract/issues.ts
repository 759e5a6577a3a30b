import type { z } from "zod";

/**
 * One message per problem, each naming its field, for the `issues` of an error body: at most one of each field (a value
 * that is neither an integer nor positive is one mistake), and one for each unknown key.
 */
export function issueMessages(error: z.ZodError): string[] {
  const messages = new Map<string, string>();
  for (const issue of error.issues) {
    if (issue.code === "unrecognized_keys") {
      for (const key of issue.keys) addOnce(messages, [...issue.path, key], "unknown");
    } else {
      addOnce(messages, issue.path, issue.message);
    }
  }
  return [...messages.values()];
}

function addOnce(messages: Map<string, string>, path: readonly PropertyKey[], message: string): void {
  const field = path.map(String).join(".");
  if (!messages.has(field)) messages.set(field, field === "" ? message : `${field}: ${message}`);
}
