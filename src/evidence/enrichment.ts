import { attributeKind } from "../contract/carrier-finding.ts";
import { opinionWords, type OpinionCounts } from "../contract/second-opinion.ts";
import type { Finding, HealthcheckResult } from "../contract/healthcheck.ts";
import {
  assetTypeAttribute,
  carrierText,
  largestRise,
  rankCarriers,
  type Carrier,
  type ValueCounts,
} from "./attribution.ts";
import type { Excess } from "./excess.ts";
import { concentratedCarrier, likelyCause } from "./likely-cause.ts";
import { markerText, type OnsetMarker } from "./marker.ts";
import { onsetText } from "./onset.ts";
import type { Regret } from "./regret.ts";

/** The kind of the finding that says the second opinion. */
const opinionKind = "second-opinion";
// As many as there are asset types in a result: it stays small whatever the attributes are.
const mostFindings = 5;

/** The facts of a spike's single events; null or absent where they could not be read. */
export interface SpikeEvidence {
  readonly counts: {
    readonly currentCount: number;
    /** Deaths of the quiet days before (evidence/quiet-days.ts). */
    readonly baselineCount: number;
    /** Deaths of currentCount that have any attribute. */
    readonly attributedCount: number;
    /** Asset types too, under `assetType`. */
    readonly values: readonly ValueCounts[];
  } | null;
  readonly regret: Regret | null;
  readonly onsetAtMs: number | null;
  /** The marker of people before it began (evidence/marker.ts); null where none is. */
  readonly marker: OnsetMarker | null;
  /** The verifier's second opinion on the incident's dead assets; null: there is none. */
  readonly opinion: OpinionCounts | null;
  /** Whether the excess goes on, and when by its end at the latest the window is without it. */
  readonly excess: (Excess & { readonly expectedEndAtMs: number | null }) | null;
}

/**
 * Returns the result with its evidence: which attribute carries it, since when, how many deaths are undone, and what it most likely comes
 * from. Verdict, counts and thresholds stay as they are.
 */
export function withEvidence(result: HealthcheckResult, evidence: SpikeEvidence): HealthcheckResult {
  const { counts, regret, onsetAtMs, marker, excess, opinion } = evidence;
  const carriers = counts === null ? [] : rankCarriers(counts.values, counts);
  const { cause, reason } = likelyCause({
    carriers,
    largestRise: counts === null ? null : largestRise(counts.values, counts),
    baselineCount: counts?.baselineCount ?? null,
    attributedShare: counts === null || counts.currentCount === 0 ? 0 : counts.attributedCount / counts.currentCount,
    opinion,
    judgedCount: regret?.judgedCount ?? 0,
    revivedCount: regret?.revivedCount ?? 0,
  });
  const observed: Record<string, number | string | null> = { likelyCause: cause, likelyCauseReason: reason };
  // Alerts of one carrier belong to one incident (CONTRACT 15).
  const carrier = concentratedCarrier(carriers);
  if (carrier !== null) observed["carrier"] = `${carrier.attribute}=${carrier.value}`;
  // Without a known asset the number of assets found alive is absent, not 0.
  if (regret !== null && regret.judgedCount > 0) {
    observed["revivedCount"] = regret.revivedCount;
    observed["revivedShare"] = regret.revivedCount / regret.judgedCount;
  }
  if (onsetAtMs !== null) observed["onsetAt"] = new Date(onsetAtMs).toISOString();
  if (excess !== null) {
    observed["excess"] = excess.state;
    observed["deathsLastHour"] = excess.deathsLastHour;
    observed["usualPerHour"] = excess.usualPerHour;
    if (excess.stoppedAtMs !== null) observed["excessStoppedAt"] = new Date(excess.stoppedAtMs).toISOString();
    if (excess.expectedEndAtMs !== null) observed["expectedEndAt"] = new Date(excess.expectedEndAtMs).toISOString();
  }
  if (marker !== null) {
    observed["marker"] = marker.text;
    observed["markerAt"] = new Date(marker.atMs).toISOString();
  }
  return {
    ...result,
    observed: { ...result.observed, ...observed },
    findings: [
      ...withOnset(result, onsetAtMs, marker),
      ...carrierFindings(carriers, result.severity),
      ...(opinion === null
        ? []
        : [{ kind: opinionKind, ref: null, severity: result.severity, message: opinionWords(opinion) }]),
    ],
  };
}

function withOnset(
  { id, findings, generatedAt }: HealthcheckResult,
  onsetAtMs: number | null,
  marker: OnsetMarker | null,
): readonly Finding[] {
  if (onsetAtMs === null) return findings;
  const after = marker === null ? "" : `, ${markerText(marker, onsetAtMs)}`;
  const began = `began about ${onsetText(onsetAtMs, Date.parse(generatedAt))}${after}`;
  return findings.map((finding) =>
    finding.kind === id ? { ...finding, message: `${finding.message}, ${began}` } : finding,
  );
}

/** Asset types have findings of their own. */
function carrierFindings(carriers: readonly Carrier[], severity: HealthcheckResult["severity"]): Finding[] {
  return carriers
    .filter(({ attribute }) => attribute !== assetTypeAttribute)
    .slice(0, mostFindings)
    .map((carrier) => ({
      kind: attributeKind,
      ref: `${carrier.attribute}=${carrier.value}`,
      severity,
      message: carrierText(carrier),
    }));
}
