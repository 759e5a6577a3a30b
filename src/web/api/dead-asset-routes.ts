import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply } from "fastify";
import { z } from "zod";

import { csvLine } from "../../base/csv-line.ts";
import { FlatlineError } from "../../base/errors.ts";
import {
  deadAssetPageSchema,
  incidentAssetPageSchema,
  type DeadAsset,
  type DeadAssetPage,
  type IncidentAssetPage,
} from "../../contract/v1/incidents.ts";
import { iso } from "../../contract/v1/instant.ts";
import { authorOf } from "../access/identity.ts";
import type { AlertAssets, AssetPage, DeadAssets, ListedAsset } from "../read/dead-assets.ts";
import type { IncidentReading } from "../read/incidents.ts";
import { addRoute, type Asked } from "../route.ts";
import { cursorSchema, defaultLimit, limitSchema, writeCursor } from "./paging.ts";
import { flagSchema } from "./read-input.ts";

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

/** A file has all of them. */
function isPaged({ format = "json", limit, cursor }: z.output<typeof querySchema>): boolean {
  return format === "json" || (limit === undefined && cursor === undefined);
}

const unpaged = { path: ["limit"], message: "limit and cursor are of json" };

/** `/api/v1/alerts/{id}/assets` and `/api/v1/incidents/{id}/assets`: which assets died (CONTRACT 12 and 18). */
export function addDeadAssetRoutes(
  server: FastifyInstance,
  { incidents, alertAssets }: { readonly incidents: Pick<IncidentReading, "find">; readonly alertAssets: AlertAssets },
): void {
  addRoute(server, "GET /api/v1/alerts/:id/assets", {
    access: "read",
    says: "Which assets died in it",
    query: querySchema.refine(isPaged, unpaged),
    answer: deadAssetPageSchema,
    handle: async (asked) => {
      const { id } = asked.params;
      const assets = await alertAssets.of(id);
      if (assets === null)
        throw new FlatlineError("not_found", "no such alert of a spike over stored events: it has no assets");
      const page = await answer(asked, assets, { name: id, columns: ownColumns });
      if (page === null) return asked.reply;
      return { alertId: id, ...viewPage(page), assets: page.assets.map(viewAsset) } satisfies DeadAssetPage;
    },
  });
  addRoute(server, "GET /api/v1/incidents/:id/assets", {
    access: "read",
    says: "Which assets died in it, in order of harm",
    query: incidentQuerySchema.refine(isPaged, unpaged),
    answer: incidentAssetPageSchema,
    handle: async (asked) => {
      const found = await incidents.find(asked.params.id);
      if (found === null) throw new FlatlineError("not_found", "no incident has this number or id");
      const { toRestore = false, slug: slugs } = asked.query;
      const stranger = slugs?.find((slug) => !found.members.some((alert) => alert.slug === slug));
      if (stranger !== undefined)
        throw new FlatlineError("invalid_data", `slug: ${JSON.stringify(stranger)} is no member of this incident`);
      const alerts = found.members.filter(
        ({ slug, judgement }) => (!toRestore || judgement?.verdict === "checker") && slugs?.includes(slug) !== false,
      );
      const { incident } = found;
      const assets = incident.family === "deaths" ? await alertAssets.ofIncident(incident, alerts) : null;
      if (assets === null)
        throw new FlatlineError("not_found", "no such incident of deaths over stored events: it has no assets");
      const name = `incident-${incident.number}${toRestore ? "-to-restore" : ""}`;
      const page = await answer(asked, assets, { name, columns: incidentColumns, toRestore });
      if (page === null) return asked.reply;
      const { seenAliveCount, revivedCount } = page;
      return {
        incidentId: incident.id,
        number: incident.number,
        ...viewPage(page),
        seenAliveCount,
        revivedCount,
        assets: page.assets.map((one) => ({ slug: one.slug, ...viewAsset(one), answer: one.answer })),
      } satisfies IncidentAssetPage;
    },
  });
}

interface File {
  readonly name: string;
  readonly columns: Columns;
  readonly toRestore?: boolean;
}

/** Returns the page that is asked for; null: a file is, and is sent. */
async function answer(
  { request, reply, query }: Pick<Asked<"", z.output<typeof querySchema>, unknown>, "request" | "reply" | "query">,
  assets: DeadAssets,
  { name, columns, toRestore = false }: File,
): Promise<AssetPage | null> {
  const { stillDead, assetType, format = "json", cursor, limit = defaultLimit } = query;
  if (format === "json") return assets.page({ limit, stillDead, assetType, cursor });
  const all = await assets.all({ stillDead, assetType, ...(toRestore ? { toRestore } : {}) }, authorOf(request));
  sendCsv(reply, name, csvLines(all, columns, format));
  return null;
}

function viewPage({ fromMs, toMs, count, knownCount, next }: AssetPage) {
  const cursor = next === null ? {} : { cursor: writeCursor(next) };
  return { fromAt: iso(fromMs), toAt: iso(toMs), count, knownCount, ...cursor };
}

function viewAsset({ asset, assetType, deadAtMs, attributes, revivedAtMs }: ListedAsset): DeadAsset {
  return { asset, assetType, deadAt: iso(deadAtMs), attributes, revivedAt: iso(revivedAtMs) };
}

function sendCsv(reply: FastifyReply, name: string, lines: AsyncIterable<string>): FastifyReply {
  return reply
    .type("text/csv; charset=utf-8")
    .header("content-disposition", `attachment; filename="assets-${name.replaceAll(/[^\w-]/g, "")}.csv"`)
    .send(Readable.from(lines));
}

type Columns = Readonly<Record<string, (asset: ListedAsset) => string | null>>;
const ownColumns: Columns = {
  deadAt: ({ deadAtMs }) => iso(deadAtMs),
  assetType: ({ assetType }) => assetType,
  asset: ({ asset }) => asset,
  revivedAt: ({ revivedAtMs }) => iso(revivedAtMs),
};
const incidentColumns: Columns = { slug: ({ slug }) => slug, ...ownColumns, answer: ({ answer }) => answer };

async function* csvLines(
  { attributes, pieces }: Awaited<ReturnType<DeadAssets["all"]>>,
  columns: Columns,
  format: "csv" | "sheet",
): AsyncGenerator<string> {
  const shown = format === "sheet" ? inert : (cell: string) => cell;
  yield csvLine([...Object.keys(columns), ...attributes.map((name) => `attr.${name}`)]);
  for await (const piece of pieces) {
    const lines = piece.map((one) => {
      const { attributes: own } = one;
      const values = attributes.map((name) => (Object.hasOwn(own, name) ? (own[name] ?? "") : ""));
      return csvLine([...Object.values(columns).map((cell) => cell(one) ?? ""), ...values].map(shown));
    });
    yield lines.join("");
  }
}

/** A spreadsheet takes what begins so for a formula; a program would take the apostrophe for a part of the value. */
function inert(cell: string): string {
  return /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
}
