import { z } from "zod";

import { defaultPageSize, ownFilterNames, type ReportsQuery } from "../../contract/reports.ts";
import { reportsQuerySchema } from "../../contract/reports-query.ts";

type Json = Readonly<Record<string, unknown>>;
type Name = keyof ReportsQuery;

const descriptions: Readonly<Record<Name, string>> = {
  slug: "The organization; may be left out with a key for one organization only.",
  cursor: "The cursor of the previous page: opaque, valid for the same organization and filters.",
  limit: "Reports on a page.",
  startDate: "Created then or later.",
  endDate: "Created then or earlier.",
  onlyRejected: "With at least one rejected proposal.",
  needsCustomerReview:
    "With at least one proposal in the customer review queue, not reported by the organization itself.",
  status: "Of this status.",
  decision: "With at least one proposal of this decision.",
  assetType: "With at least one asset of this type.",
  source: "Of this source.",
  reportedBy: "Reported by people, or by automation.",
  reviewedBy: "With at least one proposal decided by people, or by automation.",
  country: "Of this country, two letters.",
};

// In a URL everything is text; these are the types of the text. Tests compare them with the parser.
const meanings: Readonly<Partial<Record<Name, Json>>> = {
  limit: { type: "integer", minimum: 1, maximum: 100, default: defaultPageSize },
  onlyRejected: { type: "boolean", default: false },
  needsCustomerReview: { type: "boolean", default: false },
};

const ownNote = "An extension of flatline: the API's description has no name for this filter.";

/** Returns the query of the listing as OpenAPI parameters; flatline's extensions are marked `x-flatline-own`. */
export function reportParameters(): readonly Json[] {
  const { properties = {} } = z.toJSONSchema(reportsQuerySchema, { io: "input", target: "draft-2020-12" });
  return (Object.keys(properties) as Name[]).map((name) => {
    const isOwn = ownFilterNames.some((own) => own === name);
    return {
      name,
      in: "query",
      description: isOwn ? `${descriptions[name]} ${ownNote}` : descriptions[name],
      ...(isOwn ? { "x-flatline-own": true } : {}),
      schema: meanings[name] ?? properties[name],
    };
  });
}
