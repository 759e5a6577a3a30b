import {
  checkHttpUrl,
  duration,
  filePath,
  longestTimeoutMs,
  shortestIntervalMs,
  wholeNumber,
} from "../../base/schema/values.ts";
import { dayMs, secondMs } from "../../base/time.ts";
import { checkSigningSecret, optionalSecret } from "../../base/schema/secret-rules.ts";
import { builtIn, fileOrUrl, section } from "../../base/schema/section.ts";

/** `secondOpinion`: a verifier is asked about a sample of an incident's dead assets (CONTRACT 16). */
export const secondOpinionSchema = section({
  sample: builtIn(wholeNumber({ min: 1, max: 64 }), 20).describe(
    "How many of the dead assets the verifier is asked about.",
  ),
  control: builtIn(wholeNumber({ min: 0, max: 64 }), 20).describe(
    "About how many assets known to be alive, and long dead, it is asked beside them.",
  ),
  again: builtIn(duration({ minMs: shortestIntervalMs, maxMs: 30 * dayMs }), "1h").describe(
    "From the first question about an incident to the second, and to the third.",
  ),
  verifier: section(
    {
      url: optionalSecret(checkHttpUrl).describe("The verifier's address. A secret."),
      secret: optionalSecret(checkSigningSecret).describe(
        "Signs each request as those of the receiver `webhook`; absent: not signed. A secret.",
      ),
      timeout: builtIn(duration({ minMs: secondMs, maxMs: longestTimeoutMs }), "60s").describe(
        "How long its answer is waited for.",
      ),
      file: filePath()
        .optional()
        .describe("In place of `url`, for examples and tests: a file with a verifier's answer (JSON, `.gz` too)."),
    },
    {
      check: (values) =>
        fileOrUrl(values, ["url", "secret"], {
          key: null,
          message: "needs url or file: who looks at the assets",
          part: "key",
        }),
    },
  ).describe("A service of your own that looks at assets."),
}).describe("A verifier is asked about some dead assets of an incident. Stored events only.");
