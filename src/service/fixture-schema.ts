import { z } from "zod";
import { readInstant } from "../base/instant.ts";
import { assetTypePattern } from "../contract/asset-types.ts";
import { longestSlug } from "../contract/slug.ts";
import { keyRoles } from "../store/platform/api-keys.ts";
import { assetStatuses } from "../store/platform/assets.ts";
import { queueStates } from "../store/platform/reports.ts";
import { normalizeDomain } from "./legitimate-host.ts";

const id = z.int().gt(0);
const slug = z.string().min(1).max(longestSlug);
const name = z.string().min(1).max(500);
const actor = z.enum(["human", "automation"]);
const instant = z.union([z.string(), z.number()]).transform((value, context) => {
  const reading = readInstant(String(value));
  if (reading.kind === "instant") return reading.atMs;
  context.addIssue({ code: "custom", message: reading.problem });
  return z.NEVER;
});

const organization = z.strictObject({
  slug,
  name: name.nullish(),
  brands: z.array(z.strictObject({ id, name })).default([]),
});

const key = z.strictObject({
  key: z
    .string()
    .min(1)
    .max(512)
    .regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, "has characters that no header can hold"),
  name: name.optional(),
  role: z.enum(keyRoles),
  organizations: z.array(slug).min(1),
});

const asset = z.strictObject({
  id,
  type: z.string().regex(assetTypePattern, "must be upper-case letters, digits and underscores, at most 64"),
  content: z.string().min(1).max(8_192),
  status: z.enum(assetStatuses).default("UNKNOWN"),
});

const domain = z.string().transform((text, context) => {
  const domain = normalizeDomain(text);
  if (domain !== null) return { domain, includesItself: true };
  context.addIssue({ code: "custom", message: "is not a domain name" });
  return z.NEVER;
});
const pattern = z.string().transform((text, context) => {
  const domain = text.startsWith("*.") ? normalizeDomain(text.slice(2)) : null;
  if (domain !== null) return { domain, includesItself: false };
  context.addIssue({
    code: "custom",
    message: 'must be "*." and a domain name; `domains` is for a domain with its subdomains',
  });
  return z.NEVER;
});
const legitimacyRule = z
  .strictObject({
    name,
    enabled: z.boolean().default(true),
    organization: slug.nullish(),
    domains: z.array(domain).optional(),
    pattern: pattern.optional(),
  })
  .refine((rule) => rule.domains !== undefined || rule.pattern !== undefined, "needs `domains` or a `pattern`");

const proposal = z
  .strictObject({
    id,
    assetId: id,
    decision: z.enum(["APPROVE", "REJECT"]).nullable().default(null),
    decidedBy: actor.nullable().default(null),
    queue: z.enum(queueStates).default("none"),
    resolved: z.boolean().default(false),
  })
  .refine((given) => given.queue !== "queued" || !given.resolved, {
    message: "a proposal can't be queued and resolved at once",
    path: ["resolved"],
  });

const report = z.strictObject({
  id,
  organization: slug,
  createdAt: instant,
  updatedAt: instant.optional(),
  status: z.enum(["TODO", "IN_PROGRESS", "CLOSED"]).default("TODO"),
  source: z.string().min(1).max(64).default("API"),
  title: z.string().max(1_000).nullish(),
  country: z
    .string()
    .regex(/^[A-Za-z]{2}$/, "must be two letters")
    .transform((text) => text.toUpperCase())
    .nullish(),
  reporter: z
    .strictObject({ kind: actor, name: z.string().max(500).nullish(), organization: slug.nullish() })
    .default({ kind: "automation" }),
  sla: z.strictObject({ dueAt: instant, breached: z.boolean().optional() }).nullish(),
  proposals: z.array(proposal).default([]),
  scans: z.array(z.strictObject({ id, assetId: id, status: z.string().min(1).max(64), at: instant })).default([]),
});

/** A fixture (CONTRACT 10). Unknown keys are problems; instants become epoch ms, domains their ASCII form. */
export const fixtureSchema = z.strictObject({
  organizations: z.array(organization).default([]),
  keys: z.array(key).default([]),
  assets: z.array(asset).default([]),
  legitimacyRules: z.array(legitimacyRule).default([]),
  reports: z.array(report).default([]),
});
export type Fixture = z.infer<typeof fixtureSchema>;
