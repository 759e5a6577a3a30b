import { spikeRequestSchema } from "../../contract/healthcheck-schemas.ts";
import { issueMessages, readWith } from "../../contract/issues.ts";
import type { SpikeRequest } from "../../contract/platform-api.ts";

/** A request's body as JSON. */
export interface JsonBody {
  readonly isJson: boolean;
  /** undefined when it is none: no schema takes that. */
  readonly json: unknown;
}

// Refuses what is no UTF-8, leaves a byte order mark out, and keeps nothing between two texts.
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Reads the bytes of a body, whatever its type says. */
export function readJson(body: unknown): JsonBody {
  if (!Buffer.isBuffer(body)) return { isJson: false, json: undefined };
  try {
    return { isJson: true, json: JSON.parse(utf8.decode(body)) };
  } catch {
    return { isJson: false, json: undefined };
  }
}

/** The issues in better words where there was no JSON: what the schema said of the body is the last of them. */
export function bodyIssues({ isJson }: JsonBody, issues: readonly string[]): readonly string[] {
  return isJson ? issues : [...issues.slice(0, -1), "the body is not JSON"];
}

/** The bytes of a healthcheck's body as its request, all thresholds given, or one issue per problem. */
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
