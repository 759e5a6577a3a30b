import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply } from "fastify";
import { z } from "zod";

import { csvLine } from "../../base/csv-line.ts";
import { FlatlineError } from "../../base/errors.ts";
import { authorOf } from "../access/identity.ts";
import type { AccessSettings } from "../access/settings.ts";
import type { AlertAssets } from "../read/alert-assets.ts";
import type { AssetFilter, AssetPage, DeadAssets, ListedAsset } from "../read/asset-list.ts";
import type { IncidentReading } from "../read/incidents.ts";
import { addResource } from "../resource.ts";
import { iso } from "../../contract/v1/instant.ts";
import { cursorSchema, defaultLimit, limitSchema, writeCursor } from "./paging.ts";
import {
  deadAssetPageSchema,
  incidentAssetPageSchema,
  type DeadAsset,
  type DeadAssetPage,
  type IncidentAssetPage,
} from "../../contract/v1/dead-assets.ts";
import { readInput } from "./read-input.ts";

const flag = z.enum(["true", "false"]).transform((text) => text === "true");
const filterShape = {
  stillDead: flag.optional(),
  assetType: z
    .string()
    .regex(/^[A-Z0-9_]{1,64}$/, "must be an asset type: upper-case letters, digits and underscores")
    .optional(),
};
const pageShape = {
  ...filterShape,
  format: z.enum(["json"], "must be json, csv or sheet").optional(),
  limit: limitSchema.optional(),
  cursor: cursorSchema(z.tuple([z.int(), z.int(), z.int(), z.int()])).optional(),
};
const csvShape = { ...filterShape, format: z.enum(["csv", "sheet"]) };
const [pageSchema, csvSchema] = [z.strictObject(pageShape), z.strictObject(csvShape)];
const ofIncident = {
  toRestore: flag.optional(),
  slug: z
    .union([z.string(), z.array(z.string())])
    .transform((slug) => [slug].flat())
    .optional(),
};
const [incidentPageSchema, incidentCsvSchema] = [pageSchema.extend(ofIncident), csvSchema.extend(ofIncident)];

const pageQuerySchema = pageSchema.extend({ format: z.enum(["json", ...csvShape.format.options]).optional() });

export interface DeadAssetRoutesOptions {
  readonly incidents: Pick<IncidentReading, "find">;
  readonly alertAssets: AlertAssets;
}

/** `/api/v1/alerts/{id}/assets` and `/api/v1/incidents/{id}/assets`: which assets died (CONTRACT 12 and 18). */
export function addDeadAssetRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  { incidents, alertAssets }: DeadAssetRoutesOptions,
): void {
  addResource(scope, "/api/v1/alerts/:id/assets", settings, {
    GET: {
      access: "read",
      about: { says: "Which assets died in it", query: pageQuerySchema, answer: deadAssetPageSchema },
      handle: async (request, reply) => {
        const { id } = request.params as { readonly id: string };
        const query = request.query as Readonly<Record<string, unknown>>;
        const assets = await alertAssets.of(id);
        if (assets === null)
          throw new FlatlineError("not_found", "no such alert of a spike over stored events: it has no assets");
        if (isCsv(query)) {
          const asked = read(csvSchema, query);
          const all = await assets.all(filterOf(asked), authorOf(request));
          return sendCsv(reply, id, csvLines(all, ownColumns, asked.format));
        }
        const page = await readPage(assets, read(pageSchema, query));
        return { alertId: id, ...viewPage(page), assets: page.assets.map(viewAsset) } satisfies DeadAssetPage;
      },
    },
  });
  addResource(scope, "/api/v1/incidents/:id/assets", settings, {
    GET: {
      access: "read",
      about: {
        says: "Which assets died in it, in order of harm",
        query: pageQuerySchema.extend(ofIncident),
        answer: incidentAssetPageSchema,
      },
      handle: async (request, reply) => {
        const { id } = request.params as { readonly id: string };
        const query = request.query as Readonly<Record<string, unknown>>;
        const found = await incidents.find(id);
        if (found === null) throw new FlatlineError("not_found", "no incident has this number or id");
        const asked = isCsv(query) ? read(incidentCsvSchema, query) : read(incidentPageSchema, query);
        const { toRestore = false, slug: slugs } = asked;
        const stranger = slugs?.find((slug) => !found.members.some(({ alert }) => alert.slug === slug));
        if (stranger !== undefined)
          throw new FlatlineError("invalid_data", `slug: ${JSON.stringify(stranger)} is no member of this incident`);
        const alertIds = found.members.flatMap(({ alert: { id: alertId, slug, judgement } }) =>
          (toRestore && judgement?.verdict !== "checker") || slugs?.includes(slug) === false ? [] : [alertId],
        );
        const { incident } = found;
        const assets = incident.family === "deaths" ? await alertAssets.ofIncident(incident, alertIds) : null;
        if (assets === null)
          throw new FlatlineError("not_found", "no such incident of deaths over stored events: it has no assets");
        const name = `incident-${incident.number}${toRestore ? "-to-restore" : ""}`;
        if ("format" in asked && (asked.format === "csv" || asked.format === "sheet")) {
          const all = await assets.all({ ...filterOf(asked), ...(toRestore ? { toRestore } : {}) }, authorOf(request));
          return sendCsv(reply, name, csvLines(all, incidentColumns, asked.format));
        }
        const page = await readPage(assets, asked as z.output<typeof incidentPageSchema>);
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
    },
  });
}

function isCsv({ format }: Readonly<Record<string, unknown>>): boolean {
  return format === "csv" || format === "sheet";
}

function filterOf({ stillDead, assetType }: z.output<typeof pageSchema | typeof csvSchema>): AssetFilter {
  return {
    ...(stillDead === undefined ? {} : { stillDead }),
    ...(assetType === undefined ? {} : { assetType }),
  };
}

function readPage(assets: DeadAssets, query: z.output<typeof pageSchema>): Promise<AssetPage> {
  const { cursor, limit = defaultLimit } = query;
  return assets.page({ limit, ...filterOf(query), ...(cursor === undefined ? {} : { cursor }) });
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

function read<Output>(schema: z.ZodType<Output>, query: unknown): Output {
  return readInput(schema, query, "not a listing of assets");
}
