import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply } from "fastify";
import { z } from "zod";

import { FlatlineError } from "../../base/errors.ts";
import type { Actor } from "../../contract/actor.ts";
import { authorOf, requireOrganization } from "../access/identity.ts";
import type { AccessSettings } from "../access/settings.ts";
import type { AlertsPort } from "../ports/alerts.ts";
import type { AlertAssets, AlertAssetsPort, AssetCursor, ListedAsset } from "../ports/dead-assets.ts";
import { addResource } from "../resource.ts";
import type { DeadAsset, DeadAssetPage } from "../../contract/v1/dead-assets.ts";
import { iso } from "../../contract/v1/instant.ts";
import { cursorSchema, defaultLimit, limitSchema, writeCursor } from "./paging.ts";
import { readInput } from "./read-input.ts";

const flag = z.enum(["true", "false"]).transform((text) => text === "true");
const filterShape = {
  stillDead: flag.optional(),
  assetType: z
    .string()
    .regex(/^[A-Z0-9_]{1,64}$/, "must be an asset type: upper-case letters, digits and underscores")
    .optional(),
};
const pageSchema = z.strictObject({
  ...filterShape,
  format: z.enum(["json"], "must be json or csv").optional(),
  limit: limitSchema.optional(),
  cursor: cursorSchema(z.tuple([z.int(), z.int(), z.int(), z.int()])).optional(),
});
const csvSchema = z.strictObject({ ...filterShape, format: z.literal("csv") });

/** `/api/v1/alerts/{id}/assets`: which assets died in an alert (CONTRACT 12). */
export function addDeadAssetRoutes(
  scope: FastifyInstance,
  settings: () => AccessSettings,
  { alerts, alertAssets }: { readonly alerts: Pick<AlertsPort, "slugOf">; readonly alertAssets: AlertAssetsPort },
): void {
  addResource(scope, "/api/v1/alerts/:id/assets", settings, {
    GET: {
      access: "read",
      handle: async (request, reply) => {
        const { id } = request.params as { readonly id: string };
        const query = request.query as Readonly<Record<string, unknown>>;
        // First: who may not see the organization learns nothing of its alerts, nor whether this one has assets.
        const slug = await alerts.slugOf(id);
        if (slug !== null) requireOrganization(request, slug);
        const assets = await alertAssets.of(id);
        if (assets === null)
          throw new FlatlineError("not_found", "no such alert of a spike over stored events: it has no assets");
        if (query["format"] === "csv")
          return sendCsv(reply, id, assets, { ...read(csvSchema, query), author: authorOf(request) });
        return answerPage(assets, read(pageSchema, query));
      },
    },
  });
}

async function answerPage(assets: AlertAssets, query: z.output<typeof pageSchema>): Promise<DeadAssetPage> {
  const { stillDead, assetType, cursor, limit = defaultLimit } = query;
  const page = await assets.page({
    limit,
    ...(stillDead === undefined ? {} : { stillDead }),
    ...(assetType === undefined ? {} : { assetType }),
    ...(cursor === undefined ? {} : { cursor: placeOf(cursor) }),
  });
  const { alertId, fromMs, toMs, count, knownCount, next } = page;
  return {
    alertId,
    fromAt: iso(fromMs),
    toAt: iso(toMs),
    count,
    knownCount,
    assets: page.assets.map(viewAsset),
    ...(next === null ? {} : { cursor: cursorOf(next) }),
  };
}

function viewAsset({ asset, assetType, deadAtMs, attributes, revivedAtMs }: ListedAsset): DeadAsset {
  return { asset, assetType, deadAt: iso(deadAtMs), attributes, revivedAt: iso(revivedAtMs) };
}

async function sendCsv(
  reply: FastifyReply,
  id: string,
  assets: AlertAssets,
  { stillDead, assetType, author }: z.output<typeof csvSchema> & { readonly author: Actor },
): Promise<FastifyReply> {
  const filter = {
    ...(stillDead === undefined ? {} : { stillDead }),
    ...(assetType === undefined ? {} : { assetType }),
  };
  const { attributes, pieces } = await assets.all(filter, author);
  const name = id.replaceAll(/[^\w-]/g, "");
  return reply
    .type("text/csv; charset=utf-8")
    .header("content-disposition", `attachment; filename="assets-${name}.csv"`)
    .send(Readable.from(csvLines(attributes, pieces)));
}

async function* csvLines(
  attributes: readonly string[],
  pieces: AsyncIterable<readonly ListedAsset[]>,
): AsyncGenerator<string> {
  yield csvLine(["deadAt", "assetType", "asset", "revivedAt", ...attributes.map((name) => `attr.${name}`)]);
  for await (const piece of pieces) {
    const lines = piece.map(({ asset, assetType, deadAtMs, revivedAtMs, attributes: own }) => {
      const values = attributes.map((name) => (Object.hasOwn(own, name) ? (own[name] ?? "") : ""));
      return csvLine([iso(deadAtMs) ?? "", assetType ?? "", asset, iso(revivedAtMs) ?? "", ...values]);
    });
    yield lines.join("");
  }
}

/** One line as RFC 4180 has it; a spreadsheet takes what begins so for a formula. */
function csvLine(cells: readonly string[]): string {
  const texts = cells.map((cell) => {
    const inert = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
    return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
  });
  return `${texts.join(",")}\n`;
}

function placeOf([toMs, atMs, importId, ordinal]: readonly [number, number, number, number]): AssetCursor {
  return { toMs, after: { atMs, importId, ordinal } };
}

function cursorOf({ toMs, after }: AssetCursor): string {
  return writeCursor([toMs, after.atMs, after.importId, after.ordinal]);
}

function read<Output>(schema: z.ZodType<Output>, query: unknown): Output {
  return readInput(schema, query, "not a listing of assets");
}
