import { z } from "zod";

import { dayMs, minuteMs } from "../../base/time.ts";
import { clickhouseSourceSchema, postgresSourceSchema } from "./table-source.ts";
import { checkKey, optionalSecret } from "../../base/schema/secret-rules.ts";
import { section } from "../../base/schema/section.ts";
import { checkHttpUrl, duration, filePath, nameText, wholeNumber } from "../../base/schema/values.ts";

const observedKeysSchema = section({
  currentCount: nameText().default("currentCount").describe("The key of the deaths within the window."),
  baselineCount: nameText().default("baselineCount").describe("The key of the deaths within the baseline."),
  expectedCount: nameText().default("expectedCount").describe("The key of the expected deaths."),
  ratio: nameText().default("ratio").describe("The key of the ratio of the two."),
})
  .prefault({})
  .describe("Which keys of a result's `observed` carry the counts that pages, metrics and notifications show.");

const concurrencySchema = wholeNumber({ min: 1, max: 1_000 }).default(16).describe("How many checks run at once.");

const baseUrlSchema = z
  .string()
  .superRefine((text, context) => {
    const problem = checkHttpUrl(text);
    if (problem !== null) return context.addIssue(problem);
    const url = new URL(text);
    if (url.username !== "" || url.password !== "")
      context.addIssue("must not hold a user or password: the key is apiKey");
    if (url.search !== "" || url.hash !== "") context.addIssue("must not hold a query or a fragment");
  })
  .meta({ format: "uri" });

const remoteSourceSchema = section(
  {
    type: z.literal("remote").optional().describe("Asks the API of a takedown platform.").meta({ default: "remote" }),
    baseUrl: baseUrlSchema.describe(
      "The API's address, up to and with its version: `https://security.example.com/api/v2`.",
    ),
    apiKey: optionalSecret(checkKey).describe(
      "Sent as `X-API-KEY`; may be absent when every organization has its own. A secret.",
    ),
    timeout: duration({ minMs: 1, maxMs: 10 * minuteMs })
      .prefault("30s")
      .describe("Of one attempt."),
    retries: wholeNumber({ min: 0, max: 10 })
      .default(2)
      .describe("Extra attempts after network errors, 429 and 5xx; `Retry-After` is honoured."),
    concurrency: concurrencySchema,
    observedKeys: observedKeysSchema,
  },
  { where: " of a remote source" },
);

const preloadSchema = z.union([
  section({
    events: filePath().describe("A file of liveness events (CSV or NDJSON, `.gz` too)."),
    rebase: z
      .union([z.boolean(), duration({ maxMs: dayMs })])
      .prefault(false)
      .describe(
        "Shifts the events in time so that the newest is at the moment of import; a duration: this long after it.",
      ),
  }),
  section({
    fixture: filePath().describe("A fixture of organizations, keys, assets and reports."),
  }),
]);

const embeddedSourceSchema = section(
  {
    type: z.literal("embedded").describe("Evaluates liveness events in flatline's own store."),
    preload: z.array(preloadSchema).prefault([]).describe("Imported in this order when the store is empty."),
    concurrency: concurrencySchema,
    observedKeys: observedKeysSchema,
  },
  { where: " of an embedded source" },
);

/** Where verdicts come from (CONTRACT 4, `source`). */
export const sourceSchema = z
  .discriminatedUnion("type", [
    remoteSourceSchema,
    embeddedSourceSchema,
    postgresSourceSchema({ observedKeys: observedKeysSchema }),
    clickhouseSourceSchema({ observedKeys: observedKeysSchema }),
  ])
  .describe("Where verdicts come from.");
