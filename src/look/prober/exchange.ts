import type { Readable } from "node:stream";
import { z } from "zod";

import { FlatlineError } from "../../base/errors.ts";
import { lookAnswers } from "../../contract/second-opinion.ts";
import { isCidr } from "../addresses.ts";

// The two sides write one JSON document a line. Neither side believes the other: the prober reads what hostile hosts answer.

/** The first line to the prober. */
export const proberSettingsSchema = z.strictObject({
  /** Addresses of DNS servers, with a port where it is not 53; empty: those of the system. */
  dnsServers: z.array(z.string()),
  /** null: by DNS only. */
  http: z.strictObject({ proxy: z.url(), userAgent: z.string(), timeoutMs: z.number() }).nullable(),
  /** Hosts that are never asked. */
  hosts: z.array(z.string()),
  /** Blocks of addresses that are asked although they are not public: for tests. */
  allow: z.array(z.string().refine(isCidr)),
});
export type ProberSettings = z.infer<typeof proberSettingsSchema>;

/** Each further line to the prober. */
export const probeRequestSchema = z.strictObject({
  id: z.number(),
  /** As LookTarget has them. */
  urls: z.array(z.string()).min(1).max(2).readonly(),
  isDnsOnly: z.boolean(),
});
export type ProbeRequest = z.infer<typeof probeRequestSchema>;

/** What a look at one asset found. */
const probeResultSchema = z.strictObject({
  answer: z.enum(lookAnswers),
  /** The status of the last answer over HTTP; null: there was none. */
  status: z.number().int().min(0).max(999).nullable(),
  title: z.string().max(200).nullable(),
  /** Length of the body as it was sent, as far as it was read. */
  bytes: z.number().int().min(0).nullable(),
  /** Why it was not asked, or no answer came. */
  reason: z.enum(["name", "resolver", "address", "port", "redirects", "connection", "prober"]).nullable(),
});
export type ProbeResult = z.infer<typeof probeResultSchema>;

/** Each line from the prober. */
export const probeReplySchema = probeResultSchema.extend({ id: z.number() });

/** Longest line in bytes: names have at most some thousand characters. */
export const longestLine = 32_768;

/**
 * Yields the lines of a stream.
 * @throws invalid_data when one is longer than `longestLine`.
 */
export async function* linesOf(stream: Readable): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
      yield rest.subarray(0, end).toString();
      rest = rest.subarray(end + 1);
    }
    if (rest.length > longestLine) throw new FlatlineError("invalid_data", "a line is too long");
  }
}
