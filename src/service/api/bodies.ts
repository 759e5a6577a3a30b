import { spikeRequestSchema } from "../../contract/healthcheck-schemas.ts";
import { issueMessages, readWith } from "../../contract/issues.ts";
import type { SpikeRequest } from "../../contract/platform-api.ts";

/** A request's body as JSON. */
export interface JsonBody {
  readonly isJson: boolean;
  /** undefined if the body is not JSON; no schema accepts that. */
  readonly json: unknown;
}

// Rejects invalid UTF-8, drops a byte order mark, and keeps no state between two texts.
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Parses a body as JSON, whatever its content type. */
export function readJson(body: unknown): JsonBody {
  if (!Buffer.isBuffer(body)) return { isJson: false, json: undefined };
  try {
    return { isJson: true, json: JSON.parse(utf8.decode(body)) };
  } catch {
    return { isJson: false, json: undefined };
  }
}

/**
 * Returns the issues, with a better message if the body was not JSON: the last issue is then the schema's about the body.
 */
export function bodyIssues({ isJson }: JsonBody, issues: readonly string[]): readonly string[] {
  return isJson ? issues : [...issues.slice(0, -1), "the body is not JSON"];
}

/** Parses the body of a healthcheck with all thresholds, or returns one issue per problem. */
export function parseSpikeBody(
  bytes: unknown,
):
  | { readonly kind: "request"; readonly request: SpikeRequest }
  | { readonly kind: "issues"; readonly issues: readonly string[] } {
  const body = readJson(bytes);
  const read = readWith(spikeRequestSchema, body.json);
  if (read.kind === "data") return { kind: "request", request: read.data };
  return { kind: "issues", issues: bodyIssues(body, issueMessages(read.problems)) };
}
