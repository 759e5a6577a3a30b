import type { Db } from "../schema.ts";
import { createApiKeyStore } from "./api-keys.ts";
import { createAssetStore } from "./assets.ts";
import { createLegitimacyStore } from "./legitimacy.ts";
import { createOrganizationStore } from "./organizations.ts";
import { createPlatformReportStore } from "./reports.ts";
import { createReviewStore } from "./reviews.ts";

/** The records behind API v2. Calls that must commit together run in one `Store.transaction`. */
export type PlatformStore = ReturnType<typeof createPlatformStore>;

/** Creates API v2's part of the store. */
export function createPlatformStore(db: Db) {
  return {
    organizations: createOrganizationStore(db),
    keys: createApiKeyStore(db),
    assets: createAssetStore(db),
    legitimacy: createLegitimacyStore(db),
    reports: createPlatformReportStore(db),
    reviews: createReviewStore(db),
  };
}
