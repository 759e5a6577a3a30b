import { z } from "zod";
import { cutText } from "../base/outside-text.ts";
import { FlatlineError } from "../base/errors.ts";
import { parseJson } from "../base/json.ts";
import { readWith } from "../contract/issues.ts";
import type { ListedOrganization } from "../contract/listed-organization.ts";
import { labelNameProblem } from "../config/check/relations.ts";
import { formatPath } from "../base/yaml-text.ts";
import { thresholdsSchema } from "../config/schema/organization.ts";
import { cronPattern, nameText, strictObject, timezone } from "../base/schema/values.ts";

// A label is a few words; a longer one would hide the rest of a message.
const longestLabel = 1_024;
const mostLabels = 64;

const labelsSchema = z.record(z.string(), z.string().max(longestLabel)).superRefine((labels, context) => {
  const names = Object.keys(labels);
  if (names.length > mostLabels) context.addIssue(`must have at most ${mostLabels} labels`);
  for (const name of names) {
    const problem = labelNameProblem(name);
    if (problem !== null) context.addIssue({ code: "custom", path: [name], message: problem });
  }
});

// A program writes the list: a slug that looks like a pattern, a path or a sentence is a fault (CONTRACT 14).
const slugSchema = nameText(128).regex(
  /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
  "must be of letters, digits, dots, underscores and hyphens, and begin with a letter or digit",
);

const listedSchema = strictObject({
  slug: slugSchema,
  labels: labelsSchema.optional(),
  timezone: timezone.optional(),
  schedule: cronPattern.optional(),
  thresholds: thresholdsSchema.optional(),
});

// Like Prometheus after relabeling, this drops labels that begin with __.
const groupSchema = strictObject({
  targets: z.array(slugSchema),
  labels: z
    .record(z.string(), z.string())
    .transform((labels) => Object.fromEntries(Object.entries(labels).filter(([name]) => !name.startsWith("__"))))
    .pipe(labelsSchema)
    .optional(),
}).transform(({ targets, ...labels }) => targets.map((slug) => ({ slug, ...labels })));

/**
 * Reads a list of organizations (CONTRACT 14): a JSON array of slugs, of objects, or of Prometheus' HTTP service
 * discovery. One bad entry refuses the whole list. If a slug is listed twice, the first entry counts. @throws noList
 */
export function readList(text: string, maxOrganizations: number): readonly ListedOrganization[] {
  const entries = parseJson(text);
  if (!Array.isArray(entries)) throw noList("the list is no JSON array");
  const organizations = new Map<string, ListedOrganization>();
  for (const [index, entry] of (entries as unknown[]).entries()) {
    const given = typeof entry === "string" ? { slug: entry } : entry;
    const read = readWith<unknown>(Object.hasOwn(Object(given), "targets") ? groupSchema : listedSchema, given);
    if (read.kind === "problems") {
      const [{ path, message } = { path: [], message: "is not understood" }] = read.problems;
      const problem = path.length === 0 ? message : `${formatPath(path)}: ${message}`;
      throw noList(`the list has a bad entry ${index + 1}: ${problem}`);
    }
    // JSON has no undefined: an optional key is absent.
    for (const organization of [read.data].flat() as ListedOrganization[])
      if (!organizations.has(organization.slug)) organizations.set(organization.slug, organization);
    if (organizations.size > maxOrganizations)
      throw noList(`the list has more than ${maxOrganizations} organizations (maxOrganizations)`);
  }
  // The order of the source does not matter.
  return [...organizations.values()].toSorted((left, right) => (left.slug < right.slug ? -1 : 1));
}

/** Creates the error of a source without a list; its message follows the source's name. */
export function noList(reason: string): FlatlineError {
  return new FlatlineError("unavailable", cutText(reason, 300));
}
