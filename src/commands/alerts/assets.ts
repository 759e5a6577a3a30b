import { deadAssetPageSchema, type DeadAssetPage } from "../../contract/v1/dead-assets.ts";
import type { DaemonClient } from "../daemon-client.ts";

// As many as a page may have.
const pageLimit = "1000";

/** Reads all pages of the assets that died in an alert, newest first. */
export async function* readAlertAssets(
  daemon: Pick<DaemonClient, "read">,
  id: string,
  { stillDead }: { readonly stillDead: boolean },
): AsyncGenerator<DeadAssetPage> {
  let cursor: string | undefined;
  do {
    const query = new URLSearchParams({ limit: pageLimit, ...filterOf(stillDead) });
    if (cursor !== undefined) query.set("cursor", cursor);
    const page = await daemon.read(`${pathOf(id)}?${query.toString()}`, deadAssetPageSchema);
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
