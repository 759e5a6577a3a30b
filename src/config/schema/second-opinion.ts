import { isIP } from "node:net";

import { z } from "zod";

import { secondMs } from "../../base/time.ts";
import {
  addressRange,
  duration,
  filePath,
  longestTimeoutMs,
  secretFile,
  shortestIntervalMs,
  wholeNumber,
} from "../../base/schema/values.ts";
import { dayMs } from "../../base/time.ts";
import { secretText, section } from "./section.ts";

// CONTRACT 16: the longest time for one name.
const longestLookMs = 10 * secondMs;
const shortestLookMs = 100;

const dnsServer = z.string().superRefine((text, context) => {
  const [, v6, v4] = /^(?:\[([^\]]+)\]|([^:]+))(?::\d{1,5})?$/.exec(text) ?? [];
  if (isIP(text) === 0 && isIP(v6 ?? "") !== 6 && isIP(v4 ?? "") !== 4)
    context.addIssue('must be the address of a DNS server, such as "10.0.0.2", "10.0.0.2:5353" or "[fd00::2]:53"');
});

/** `secondOpinion`: flatline looks at a sample of an incident's dead assets by itself (CONTRACT 16). */
export const secondOpinionSchema = section({
  sample: wholeNumber({ min: 1, max: 64 }).default(20).describe("How many of the dead assets are looked at."),
  again: duration({ minMs: shortestIntervalMs, maxMs: 30 * dayMs })
    .prefault("1h")
    .describe("From the first look at an incident to the second, and to the third."),
  control: wholeNumber({ min: 0, max: 64 })
    .default(20)
    .describe("How many assets known to be alive, and long dead, are looked at beside them."),
  dns: section({
    servers: z
      .array(dnsServer)
      .min(1)
      .max(10)
      .optional()
      .describe("The DNS servers that are asked, each one; when absent those of the system."),
  })
    .optional()
    .describe("Looks by DNS; alone it can only find that names are gone."),
  http: section({
    proxy: secretText(
      "The forward proxy through which every page is asked, by CONNECT to the address that was resolved. A secret.",
    ),
    proxyFile: secretFile("the address of the proxy").optional(),
    userAgent: z
      .string()
      .regex(/^[ -~]{1,200}$/, "must be printable ASCII of at most 200 characters")
      .default("Mozilla/5.0 (compatible; flatline)")
      .describe("What pages see as the browser."),
    timeout: duration({ minMs: shortestLookMs, maxMs: longestLookMs })
      .prefault("10s")
      .describe("How long a request with its redirects may take."),
    allow: z
      .array(addressRange())
      .optional()
      .describe("For tests: ranges of addresses that are asked although they are not public, and on any port."),
  })
    .optional()
    .describe("Looks over HTTP, at public addresses only."),
  verifier: section({
    url: secretText("The verifier's address. A secret."),
    urlFile: secretFile("the address").optional(),
    secret: secretText("Signs each request as those of the receiver `webhook`; absent: not signed. A secret."),
    secretFile: secretFile("the secret").optional(),
    timeout: duration({ minMs: secondMs, maxMs: longestTimeoutMs })
      .prefault("60s")
      .describe("How long its answer is waited for."),
  })
    .optional()
    .describe("A program of your own that looks at what the others leave undecided."),
  recorded: filePath()
    .optional()
    .describe("For an example: a file with a verifier's answer (JSON, `.gz` too), read in place of looking."),
}).describe(
  "flatline looks at some dead assets of an incident by itself. Stored events only; needs `dns`, `http`, `verifier` or `recorded`.",
);
