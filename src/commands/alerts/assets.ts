import { z } from "zod";
import type { DaemonClient } from "../daemon-client.ts";

const assetSchema = z.looseObject({
  asset: z.string(),
  assetType: z.string().nullable(),
  deadAt: z.string(),
  attributes: z.record(z.string(), z.string()),
  revivedAt: z.string().nullable(),
});
/** An asset that died in an alert, as the daemon lists it; times are ISO 8601. */
export type AlertAsset = z.infer<typeof assetSchema>;

const pageSchema = z.looseObject({
  count: z.number(),
  knownCount: z.number(),
  assets: z.array(assetSchema),
  cursor: z.string().optional(),
});
/** A page of them; the counts are those of the whole alert. */
export type AlertAssetsPage = z.infer<typeof pageSchema>;

// As many as a page may have.
const pageLimit = "1000";

/** Reads all pages of the assets that died in an alert, newest first. */
export async function* readAlertAssets(
  daemon: Pick<DaemonClient, "read">,
  id: string,
  { stillDead }: { readonly stillDead: boolean },
): AsyncGenerator<AlertAssetsPage> {
  let cursor: string | undefined;
  do {
    const query = new URLSearchParams({ limit: pageLimit, ...filterOf(stillDead) });
    if (cursor !== undefined) query.set("cursor", cursor);
    const page = await daemon.read(`${pathOf(id)}?${query.toString()}`, pageSchema);
    yield page;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

/** Reads the same as CSV, as one text. */
export function readAlertAssetsCsv(
  daemon: Pick<DaemonClient, "readText">,
  id: string,
  { stillDead }: { readonly stillDead: boolean },
): Promise<string> {
  return daemon.readText(`${pathOf(id)}?${new URLSearchParams({ format: "csv", ...filterOf(stillDead) }).toString()}`);
}

function filterOf(stillDead: boolean): Record<string, string> {
  return stillDead ? { stillDead: "true" } : {};
}

function pathOf(id: string): string {
  return `/api/v1/alerts/${encodeURIComponent(id)}/assets`;
}
