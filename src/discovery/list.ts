import { z } from "zod";
import { cutText } from "../base/cut-text.ts";
import { FlatlineError } from "../base/errors.ts";
import { readWith } from "../contract/issues.ts";
import type { ListedOrganization } from "../contract/listed-organization.ts";
import { labelNameProblem } from "../config/check/relations.ts";
import { formatPath } from "../config/document/problems.ts";
import { thresholdsSchema } from "../config/schema/organization.ts";
import { cronPattern, nameText, strictObject, timezone } from "../base/schema/values.ts";

// A label is a few words: a value as long as a message would hide the message.
const longestLabel = 1_024;
const mostLabels = 64;
const longestReason = 300;

const labelsSchema = z.record(z.string(), z.string().max(longestLabel)).superRefine((labels, context) => {
  const names = Object.keys(labels);
  if (names.length > mostLabels) context.addIssue(`must have at most ${mostLabels} labels`);
  for (const name of names) {
    const problem = labelNameProblem(name);
    if (problem !== null) context.addIssue({ code: "custom", path: [name], message: problem });
  }
});

// A program writes the list: a name in it that reads as a pattern, a path or a sentence is a fault (CONTRACT 14).
const slugSchema = nameText(128).regex(
  /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
  "must be of letters, digits, dots, underscores and hyphens, and begin with a letter or digit",
);

const organizationSchema = strictObject({
  slug: slugSchema,
  labels: labelsSchema.optional(),
  timezone: timezone().optional(),
  schedule: cronPattern().optional(),
  thresholds: thresholdsSchema.optional(),
});

// Prometheus drops a target's labels that begin with __ once it has relabeled: they are no labels of the organization.
const groupSchema = strictObject({
  targets: z.array(slugSchema),
  labels: z
    .record(z.string(), z.string())
    .transform((labels) => Object.fromEntries(Object.entries(labels).filter(([name]) => !name.startsWith("__"))))
    .pipe(labelsSchema)
    .optional(),
});

/**
 * Reads a list of organizations (CONTRACT 14): a JSON array of slugs, of objects, or of Prometheus' HTTP service discovery. One
 * bad entry refuses all of it. Of a slug that is listed twice the first entry counts. @throws invalid_data
 */
export function readList(text: string, maxOrganizations: number): readonly ListedOrganization[] {
  let entries: unknown;
  try {
    entries = JSON.parse(text);
  } catch {
    throw refused("is not JSON");
  }
  if (!Array.isArray(entries)) throw refused("is no JSON array");
  const organizations = new Map<string, ListedOrganization>();
  for (const [index, entry] of entries.entries()) {
    for (const organization of readEntry(entry, index + 1))
      if (!organizations.has(organization.slug)) organizations.set(organization.slug, organization);
    if (organizations.size > maxOrganizations)
      throw refused(`has more than ${maxOrganizations} organizations (maxOrganizations)`);
  }
  // A list with the same content is the same list, however the source orders it.
  return [...organizations.values()].toSorted((left, right) => (left.slug < right.slug ? -1 : 1));
}

function readEntry(entry: unknown, number: number): readonly ListedOrganization[] {
  const bad = (problem: string): FlatlineError => refused(`has a bad entry ${number}: ${problem}`);
  const readAs = <Data>(schema: z.ZodType<Data>): Data => {
    const read = readWith(schema, entry);
    if (read.kind === "data") return read.data;
    const [{ path, message } = { path: [], message: "is not understood" }] = read.problems;
    throw bad(path.length === 0 ? message : `${formatPath(path)}: ${message}`);
  };
  if (typeof entry === "string") return [{ slug: readAs(slugSchema) }];
  if (typeof entry !== "object" || entry === null || Array.isArray(entry))
    throw bad("must be a slug, an object with a slug, or one with targets");
  // JSON has no undefined: what is absent is absent.
  if (!Object.hasOwn(entry, "targets")) return [readAs(organizationSchema) as ListedOrganization];
  const { targets, labels } = readAs(groupSchema);
  return targets.map((slug) => (labels === undefined ? { slug } : { slug, labels }));
}

function refused(reason: string): FlatlineError {
  return new FlatlineError("invalid_data", `the list ${cutText(reason, longestReason)}`);
}
