import type { Db } from "../tables.ts";
import { type ApiKeyTables, createApiKeyStore } from "./api-keys.ts";
import { type AssetTables, createAssetStore } from "./assets.ts";
import { type LegitimacyTables, createLegitimacyStore } from "./legitimacy.ts";
import { type OrganizationTables, createOrganizationStore } from "./organizations.ts";
import { type ReportTables, createPlatformReportStore } from "./reports.ts";
import { type ReviewTables, createReviewStore } from "./reviews.ts";

/** The records behind API v2. Calls that must commit together run in one `Store.transaction`. */
export type PlatformStore = ReturnType<typeof createPlatformStore>;

/** The tables behind API v2; src/store/engine/migrations/0001-initial.ts describes them. */
export interface PlatformTables
  extends ApiKeyTables, AssetTables, LegitimacyTables, OrganizationTables, ReportTables, ReviewTables {}

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
