import { z } from "zod";

import { cutText } from "../base/cut-text.ts";
import { readWith } from "../contract/issues.ts";
import type { ListedOrganization } from "../contract/listed-organization.ts";
import { labelNameProblem } from "../config/check/relations.ts";
import { formatPath } from "../config/document/problems.ts";
import { thresholdsSchema } from "../config/schema/organization.ts";
import { cronPattern, nameText, strictObject, timezone } from "../base/schema/values.ts";

/** The organizations of a list, each once; or why the list is none, to follow "the list ". */
export type ListReading =
  | { readonly kind: "list"; readonly organizations: readonly ListedOrganization[] }
  | { readonly kind: "refused"; readonly reason: string };

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
 * bad entry refuses all of it. Of a slug that is listed twice the first entry counts.
 */
export function readList(text: string, { maxOrganizations }: { readonly maxOrganizations: number }): ListReading {
  let entries: unknown;
  try {
    entries = JSON.parse(text);
  } catch {
    return refuse("is not JSON");
  }
  if (!Array.isArray(entries)) return refuse("is no JSON array");
  const organizations = new Map<string, ListedOrganization>();
  for (const [index, entry] of entries.entries()) {
    const read = readEntry(entry);
    if (typeof read === "string") return refuse(`has a bad entry ${index + 1}: ${read}`);
    for (const organization of read)
      if (!organizations.has(organization.slug)) organizations.set(organization.slug, organization);
    if (organizations.size > maxOrganizations)
      return refuse(`has more than ${maxOrganizations} organizations (maxOrganizations)`);
  }
  // The entries are sorted: a list with the same content is the same list, however the source orders it.
  const sorted = [...organizations.values()].toSorted((left, right) => (left.slug < right.slug ? -1 : 1));
  return { kind: "list", organizations: sorted };
}

function refuse(reason: string): ListReading {
  return { kind: "refused", reason: cutText(reason, longestReason) };
}

/** The organizations of an entry, or what is wrong with it. */
function readEntry(entry: unknown): readonly ListedOrganization[] | string {
  if (typeof entry === "string") return readAs(slugSchema, entry, (slug) => [{ slug }]);
  if (typeof entry !== "object" || entry === null || Array.isArray(entry))
    return "must be a slug, an object with a slug, or one with targets";
  // JSON has no undefined: what is absent is absent.
  if (!Object.hasOwn(entry, "targets"))
    return readAs(organizationSchema, entry, (organization) => [organization as ListedOrganization]);
  return readAs(groupSchema, entry, ({ targets, labels }) =>
    targets.map((slug) => (labels === undefined ? { slug } : { slug, labels })),
  );
}

function readAs<Data>(
  schema: z.ZodType<Data>,
  value: unknown,
  organizationsOf: (data: Data) => readonly ListedOrganization[],
): readonly ListedOrganization[] | string {
  const read = readWith(schema, value);
  if (read.kind === "data") return organizationsOf(read.data);
  const [{ path, message } = { path: [], message: "is not understood" }] = read.problems;
  return path.length === 0 ? message : `${formatPath(path)}: ${message}`;
}
