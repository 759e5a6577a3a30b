import type { ProposalDecision } from "../../../src/contract/reports.ts";
import type { PlatformApi } from "../../../src/contract/platform-api.ts";
import type { FixtureCounts } from "../../../src/contract/v1/operator.ts";
import { importFixtures } from "../../../src/service/fixture/fixture.ts";
import { createLocalPlatformApi } from "../../../src/service/local-platform-api.ts";
import type { Store } from "../../../src/store/store.ts";
import type { VirtualClock } from "../virtual-clock.ts";

/** A proposal as a fixture states it; what a test does not name is queued and open. */
export interface ProposalSample {
  readonly id: number;
  readonly organization?: string;
  readonly assetId?: number;
  readonly queue?: "none" | "queued" | "answered";
  readonly resolved?: boolean;
  readonly decision?: ProposalDecision | null;
}

/** A fixture with one report for each proposal, with the id of it and one asset of its own unless told otherwise. */
export function proposalsFixture(proposals: readonly ProposalSample[]): object {
  const slugs = [...new Set(proposals.map(({ organization = "acme" }) => organization))];
  const assetIds = [...new Set(proposals.map(({ id, assetId = id }) => assetId))];
  return {
    organizations: slugs.map((slug) => ({ slug })),
    assets: assetIds.map((id) => ({ id, type: "URL", content: `https://host-${id}.example/`, status: "UNKNOWN" })),
    reports: proposals.map(({ id, organization = "acme", assetId = id, queue = "queued", ...more }) => ({
      id,
      organization,
      createdAt: "2026-11-01T10:00:00.000Z",
      proposals: [{ id, assetId, queue, resolved: more.resolved ?? false, decision: more.decision ?? null }],
    })),
  };
}

/** Imports one fixture, stated as data. */
export function importFixture(store: Store, clock: VirtualClock, fixture: object): Promise<FixtureCounts> {
  return importFixtures({ store, clock, files: [{ name: "fixture.json", text: JSON.stringify(fixture) }] });
}

/** API v2 over the store, as a customer's key. */
export function customerApi(store: Store, clock: VirtualClock, keyId: string, ...organizations: string[]): PlatformApi {
  return createLocalPlatformApi({
    store,
    clock,
    appUrl: null,
    identity: { role: "customer", organizations, keyId },
    isConfigured: () => false,
  });
}
