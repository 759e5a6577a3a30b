import { dayMs } from "../../base/time.ts";
import { optionalSecret, secretHeaders } from "../../base/schema/secret-rules.ts";
import { builtIn, fileOrUrl, section } from "../../base/schema/section.ts";
import {
  checkHttpUrl,
  duration,
  filePath,
  nameText,
  shortestIntervalMs,
  wholeNumber,
} from "../../base/schema/values.ts";

/** The keys of a source of organizations (CONTRACT 14). */
const discoverShape = {
  name: nameText(64).describe("The source's name in metrics, logs and commands."),
  url: optionalSecret(checkHttpUrl).describe(
    "Asked with GET for a JSON array; redirects are not followed, at most 16 MiB within 30 s. A secret. Not with `file`.",
  ),
  file: filePath().optional().describe("A file with the JSON array, at most 16 MiB. Not with `url`."),
  headers: secretHeaders().describe("Headers of the request; secrets."),
  refreshInterval: builtIn(duration({ minMs: shortestIntervalMs, maxMs: dayMs }), "5m").describe(
    "How often the list is read.",
  ),
  maxOrganizations: builtIn(wholeNumber({ min: 1, max: 100_000 }), 20_000).describe(
    "A list with more organizations is not applied.",
  ),
};
/** A source of organizations. */
export const discoverSchema = section(discoverShape, {
  check: (values) =>
    fileOrUrl(values, ["url", "headers"], {
      key: null,
      message: "needs url or file: where the list of organizations is",
    }),
}).describe("A list of organizations that another system keeps.");
