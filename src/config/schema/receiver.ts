import { z } from "zod";

import { dayMs, hourMs, minuteMs, secondMs } from "../../base/time.ts";
import {
  checkedText,
  duration,
  longestTimeoutMs,
  nameText,
  shortestIntervalMs,
  type KeyProblem,
} from "../../base/schema/values.ts";
import { builtIn, layer, readAs, section, type ReadAs, type Section } from "../../base/schema/section.ts";
import { checkNames } from "../../contract/report.ts";
import { receiverKind, receiverTypes, type ReceiverOptions, type ReceiverType } from "../../receivers/receivers.ts";

/** The keys that select the alerts of a receiver or a silence (CONTRACT 7). */
export const matchShape = {
  slug: z.string().min(1).optional().describe("A slug, or a pattern with `*`; `\\*` is a star."),
  check: z
    .string()
    .min(1)
    .optional()
    .describe(
      `The name of a check (${checkNames.map((name) => `\`${name}\``).join(", ")}, ` +
        "or of one in `healthchecks`), or a pattern with `*`.",
    ),
  labels: z
    .record(z.string(), z.string())
    .optional()
    .describe("Labels of the organization; each value exact or a pattern with `*`."),
};

/** Refuses a match without a key. */
export function checkMatch({
  slug,
  check,
  labels = {},
}: Partial<z.output<z.ZodObject<typeof matchShape>>>): KeyProblem[] {
  if (slug !== undefined || check !== undefined || Object.keys(labels).length > 0) return [];
  return [{ key: null, message: 'needs slug, check or labels; slug: "*" matches all' }];
}

const rateLimitProblem = 'must be a number per second, minute or hour: "1/s", "30/m", "100/h"';
const rateLimitText = checkedText((text) => (parseRateLimit(text) === null ? rateLimitProblem : null)).meta({
  pattern: "^[1-9]\\d{0,5}/[smh]$",
});

const unitMs = { s: secondMs, m: minuteMs, h: hourMs } as const;

const rateLimitSchema = readAs(rateLimitText, parseRateLimit, (limit) => {
  const unit = Object.entries(unitMs).find(([, ms]) => ms === limit?.perMs)?.[0] ?? `${limit?.perMs}ms`;
  return `${limit?.count}/${unit}`;
});

/** Parses `30/m` as a count and a period in ms; null: it is no rate. */
function parseRateLimit(text: string): { readonly count: number; readonly perMs: number } | null {
  const match = /^([1-9]\d{0,5})\/([smh])$/.exec(text);
  if (match === null) return null;
  return { count: Number(match[1]), perMs: unitMs[match[2] as keyof typeof unitMs] };
}

/** The keys of receivers of every type, without `type`. */
const receiverShape = {
  name: nameText(128).describe("Its name, in `receivers` of organizations and as a label of metrics."),
  minSeverity: builtIn(z.enum(["warn", "fail"]), "warn").describe("The lowest severity of which it is notified."),
  sendResolved: builtIn(z.boolean(), true).describe("Whether it is notified when an alert resolves."),
  sendUnknown: z
    .boolean()
    .optional()
    .describe(
      "Whether it is notified of checks that could not be run. " +
        "The default is true with `minSeverity: warn`, else false.",
    ),
  sendActs: z
    .boolean()
    .optional()
    .describe(
      "Whether it is notified of what people do with its alerts, and of a gate that opens. " +
        "The default is true for `slack` with a token (comments, too, where `true` is written), else false. " +
        "Refused for `pagerduty` and `alertmanager`.",
    ),
  sample: builtIn(z.boolean(), true).describe("Whether it gets the names of dead assets (`alerting.sample`)."),
  match: layer(matchShape, { check: checkMatch })
    .optional()
    .describe("Only alerts that match all of these; at least one key."),
  timeout: builtIn(duration(1, longestTimeoutMs), "10s").describe("Of one attempt."),
  maxAge: builtIn(duration(shortestIntervalMs, 30 * dayMs), "24h").describe("How long delivery is tried."),
  rateLimit: rateLimitSchema.optional().describe("At most so many requests: `1/s`, `30/m`; absent: no limit."),
};

function schemaOf(type: ReceiverType) {
  const { summary, shape, rules } = receiverKind(type);
  const keys = { type: z.literal(type).describe(summary), ...receiverShape, ...shape };
  return section(keys, { where: ` of a receiver of type ${type}`, ...(rules === undefined ? {} : { check: rules }) });
}
type ReceiverSchema = ReadAs<ReturnType<typeof schemaOf>["in"], Section<typeof receiverShape> & ReceiverOptions>;

/** A receiver (CONTRACT 7). */
export const receiverSchema = z
  .discriminatedUnion("type", receiverTypes.map(schemaOf) as unknown as [ReceiverSchema, ...ReceiverSchema[]])
  .describe("Where notifications go.");
