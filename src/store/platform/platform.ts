import type { ApiKeyStore } from "./api-keys.ts";
import type { AssetStore } from "./assets.ts";
import type { LegitimacyStore } from "./legitimacy.ts";
import type { OrganizationStore } from "./organizations.ts";
import type { PlatformReportStore } from "./reports.ts";
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
