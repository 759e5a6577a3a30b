import { createApiKeyStore } from "./api-key-table.ts";
import { createAssetStore } from "./asset-table.ts";
import { createLegitimacyStore } from "./legitimacy-table.ts";
import { createOrganizationStore } from "./organization-table.ts";
import type { PlatformStore } from "./platform.ts";
import { createPlatformReportStore } from "./report-table.ts";
import { createReviewStore } from "./review-table.ts";
import type { Db } from "../schema.ts";

/** Creates API v2's part of the store. */
export function createPlatformStore(db: Db): PlatformStore {
  return {
    organizations: createOrganizationStore(db),
    keys: createApiKeyStore(db),
    assets: createAssetStore(db),
    legitimacy: createLegitimacyStore(db),
    reports: createPlatformReportStore(db),
    reviews: createReviewStore(db),
  };
}
