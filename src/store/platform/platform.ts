import type { Db } from "../schema.ts";
import { createApiKeyStore } from "./api-key-table.ts";
import type { ApiKeyStore } from "./api-keys.ts";
import { createAssetStore } from "./asset-table.ts";
import type { AssetStore } from "./assets.ts";
import { createLegitimacyStore } from "./legitimacy-table.ts";
import type { LegitimacyStore } from "./legitimacy.ts";
import { createOrganizationStore } from "./organization-table.ts";
import type { OrganizationStore } from "./organizations.ts";
import { createPlatformReportStore } from "./report-table.ts";
import type { PlatformReportStore } from "./reports.ts";
import { createReviewStore } from "./review-table.ts";
import type { ReviewStore } from "./reviews.ts";

/** The records behind API v2. Calls that must commit together run in one `Store.transaction`. */
export interface PlatformStore {
  readonly organizations: OrganizationStore;
  readonly keys: ApiKeyStore;
  readonly assets: AssetStore;
  readonly legitimacy: LegitimacyStore;
  readonly reports: PlatformReportStore;
  readonly reviews: ReviewStore;
}

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
