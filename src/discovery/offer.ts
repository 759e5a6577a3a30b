import type { ListedOrganization } from "../contract/listed-organization.ts";
import { lookBackMs } from "../config/check/baseline.ts";
import type { DiscoverConfig } from "../config/config.ts";
import { discoveredOrganization } from "./fleet.ts";
import { readList, type ListReading } from "./list.ts";
import { readSource, type SourceReaderDeps } from "./source.ts";

/** The offer of a source: a good list, or the same as at the last answer; or the reason for neither. */
export type Offer =
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "unchanged" }
  | { readonly kind: "list"; readonly organizations: readonly ListedOrganization[]; readonly etag: string | null };

export interface OfferDeps extends SourceReaderDeps {
  readonly signal: AbortSignal;
  /** How long events are kept; 0: for ever. A list must not ask for a look further back. */
  readonly eventRetentionMs: number;
}

/** Asks a source for its list and reads it; never rejects. `etag` is that of the last answer. */
export async function readOffer(source: DiscoverConfig, etag: string | null, deps: OfferDeps): Promise<Offer> {
  const answer = await readSource(source, etag, deps);
  if (answer.kind !== "text") return answer;
  const read = withinRetention(readList(answer.text, source), source, deps.eventRetentionMs);
  if (read.kind === "refused") return { kind: "failed", reason: `the list ${read.reason}` };
  return { kind: "list", organizations: read.organizations, etag: answer.etag };
}

/** Checks the list against storage.eventRetention, as the file is. */
function withinRetention(read: ListReading, source: DiscoverConfig, eventRetentionMs: number): ListReading {
  if (read.kind === "refused" || eventRetentionMs === 0) return read;
  const tooFar = read.organizations.find((listed) => {
    if (listed.thresholds === undefined) return false;
    const { thresholds, baseline } = discoveredOrganization(source, listed);
    return lookBackMs(thresholds, baseline) > eventRetentionMs;
  });
  if (tooFar === undefined) return read;
  return {
    kind: "refused",
    reason: `has thresholds of ${JSON.stringify(tooFar.slug)} that look back further than storage.eventRetention`,
  };
}
