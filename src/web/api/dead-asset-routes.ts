import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { z } from "zod";

import { noIncident } from "../../alerting/acts/incident-acts.ts";
import { csvLine } from "../../base/csv-line.ts";
import { FlatlineError } from "../../base/errors.ts";
import { deadAssetPageSchema, incidentAssetPageSchema } from "../../contract/v1/incidents.ts";
import { withInstants } from "../../contract/v1/instant.ts";
import { authorOf } from "../access/admission.ts";
import type { WebParts } from "../parts.ts";
import type { DeadAssets } from "../read/dead-assets.ts";
import { addRoute, type Asked } from "../route.ts";
import { cursorSchema, defaultLimit, flagSchema, limitSchema, writeCursor } from "../input.ts";

const querySchema = z.strictObject({
  stillDead: flagSchema.optional(),
  assetType: z
    .string()
    .regex(/^[A-Z0-9_]{1,64}$/, "must be an asset type: upper-case letters, digits and underscores")
    .optional(),
  format: z.enum(["json", "csv", "sheet"], "must be json, csv or sheet").optional(),
  limit: limitSchema.optional(),
  cursor: cursorSchema(z.tuple([z.int(), z.int(), z.int(), z.int()])).optional(),
});
const incidentQuerySchema = querySchema.extend({
  toRestore: flagSchema.optional(),
  slug: z
    .union([z.string(), z.array(z.string())])
    .transform((slug) => [slug].flat())
    .optional(),
});
type AssetQuery = z.output<typeof querySchema>;

/** Returns whether `limit` and `cursor` are allowed: a file has no pages. */
function isPaged({ format = "json", limit, cursor }: AssetQuery): boolean {
  return format === "json" || (limit === undefined && cursor === undefined);
}

const unpaged = { path: ["limit"], message: "limit and cursor are of json" };
const ownColumns = ["deadAt", "assetType", "asset", "revivedAt"] as const;
const incidentColumns = ["slug", ...ownColumns, "answer"] as const;

/** Adds the lists of dead assets of an alert and of an incident (CONTRACT 12 and 18). */
export function addDeadAssetRoutes(server: FastifyInstance, { incidents, alertAssets }: WebParts): void {
  addRoute(server, "GET /api/v1/alerts/:id/assets", {
    access: "read",
    says: "Which assets died in it",
    query: querySchema.refine(isPaged, unpaged),
    answer: deadAssetPageSchema,
    handle: async (asked) => {
      const { id: alertId } = asked.params;
      const page = await answer(asked, await alertAssets.of(alertId), { name: alertId, columns: ownColumns });
      return page && { ...page, alertId };
    },
  });
  addRoute(server, "GET /api/v1/incidents/:id/assets", {
    access: "read",
    says: "Which assets died in it, in order of harm",
    query: incidentQuerySchema.refine(isPaged, unpaged),
    answer: incidentAssetPageSchema,
    handle: async (asked) => {
      const found = await incidents.find(asked.params.id);
      if (found === null) throw noIncident();
      const { incident, members } = found;
      const { toRestore = false, slug: slugs } = asked.query;
      const stranger = slugs?.find((slug) => !members.some((alert) => alert.slug === slug));
      if (stranger !== undefined)
        throw new FlatlineError("invalid_data", `slug: ${JSON.stringify(stranger)} is no member of this incident`);
      const alerts = members.filter(
        ({ slug, judgement }) => (!toRestore || judgement?.verdict === "checker") && slugs?.includes(slug) !== false,
      );
      const assets = incident.family === "deaths" ? await alertAssets.ofIncident(incident, alerts) : null;
      const { id: incidentId, number } = incident;
      const name = `incident-${number}${toRestore ? "-to-restore" : ""}`;
      const page = await answer(asked, assets, { name, columns: incidentColumns, toRestore });
      return page && { ...page, incidentId, number };
    },
  });
}

interface Listing {
  readonly name: string;
  readonly columns: readonly (typeof incidentColumns)[number][];
  readonly toRestore?: boolean;
}

/** Returns a page; null: it has answered with all assets as a file. */
async function answer(
  { request, reply, query }: Pick<Asked<"", AssetQuery, unknown>, "request" | "reply" | "query">,
  assets: DeadAssets | null,
  { name, columns, toRestore = false }: Listing,
) {
  if (assets === null) throw new FlatlineError("not_found", "no such spike over stored events: it has no assets");
  const { format = "json", cursor, limit = defaultLimit, stillDead, assetType } = query;
  if (format !== "json") {
    const all = await assets.all({ stillDead, assetType, ...(toRestore ? { toRestore } : {}) }, authorOf(request));
    await reply
      .type("text/csv; charset=utf-8")
      .header("content-disposition", `attachment; filename="assets-${name.replaceAll(/[^\w-]/g, "")}.csv"`)
      .send(Readable.from(csvLines(all, columns, format)));
    return null;
  }
  const { fromMs: fromAtMs, toMs: toAtMs, next, ...page } = await assets.page({ limit, stillDead, assetType, cursor });
  return { ...page, fromAtMs, toAtMs, cursor: next === null ? undefined : writeCursor(next) };
}

async function* csvLines(
  { attributes, pieces }: Awaited<ReturnType<DeadAssets["all"]>>,
  columns: Listing["columns"],
  format: "csv" | "sheet",
): AsyncGenerator<string> {
  const shown = format === "sheet" ? inert : (cell: string) => cell;
  yield csvLine([...columns, ...attributes.map((name) => `attr.${name}`)]);
  for await (const piece of pieces) {
    const lines = piece.map(withInstants).map((row) => {
      const own = new Map(Object.entries(row.attributes));
      const cells = [...columns.map((column) => row[column]), ...attributes.map((name) => own.get(name))];
      return csvLine(cells.map((cell) => shown(cell ?? "")));
    });
    yield lines.join("");
  }
}

/** Escapes a cell that a spreadsheet reads as a formula. Programs ask for plain CSV: the apostrophe changes values. */
function inert(cell: string): string {
  return /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
}
