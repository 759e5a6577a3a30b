import { opinionWords, type OpinionCounts } from "../contract/second-opinion.ts";
import { noEvidence, stoppedAtMsOf, type SpikeEvidence } from "../contract/spike-evidence.ts";
import { withInstants } from "../contract/v1/instant.ts";
import type { Finding, HealthcheckResult } from "../contract/healthcheck.ts";
import { assetTypeAttribute, carrierText, risesOf, valueText, type ValueCounts } from "./attribution.ts";
import { concentratedCarrier, likelyCause } from "./likely-cause.ts";
import { afterText, nbsp, timeText } from "../words/numbers.ts";
import type { OnsetMarker } from "./onset.ts";
import type { Regret } from "./regret.ts";

// Kinds of findings: of a value that stands out, and of the second opinion.
const attributeKind = "dead-asset-spike.attribute";
const opinionKind = "second-opinion";
// Keeps the result small, whatever the attributes are.
const mostFindings = 5;

/** The facts of a spike's single events; null or absent where they could not be read. */
export interface SpikeFacts {
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
  /** The marker of people before it began (evidence/onset.ts); null where none is. */
  readonly marker: OnsetMarker | null;
  /** The verifier's second opinion on the incident's dead assets; null: there is none. */
  readonly opinion: OpinionCounts | null;
  readonly excess: SpikeEvidence["excess"];
}

/** The result of a spike with its evidence. */
export interface EvidentResult {
  readonly result: HealthcheckResult;
  readonly evidence: SpikeEvidence;
}

/**
 * Returns the result with its evidence: which value carries it, since when, how many deaths are undone, likely cause.
 * People read it in `observed` and the findings. Verdict, counts and thresholds stay as they are.
 */
export function withEvidence(
  { result, evidence: known }: { readonly result: HealthcheckResult; readonly evidence?: SpikeEvidence },
  facts: SpikeFacts,
): EvidentResult {
  const { onsetAtMs, marker, opinion } = facts;
  const { evidence, named, reason } = evidenceOf(facts, known);
  return {
    result: {
      ...result,
      observed: { ...result.observed, likelyCause: evidence.cause, likelyCauseReason: reason, ...observedOf(evidence) },
      findings: [
        ...withOnset(result, onsetAtMs, marker),
        ...named.map((carrier) => ({
          kind: attributeKind,
          ref: valueText(carrier),
          severity: result.severity,
          message: carrierText(carrier),
        })),
        ...(opinion === null
          ? []
          : [{ kind: opinionKind, ref: null, severity: result.severity, message: opinionWords(opinion) }]),
      ],
    },
    evidence,
  };
}

/** Returns the evidence of these facts, the values to name in findings, and why the cause is likely. */
export function evidenceOf(
  { counts, regret, onsetAtMs, marker, excess, opinion }: SpikeFacts,
  known: SpikeEvidence = noEvidence,
) {
  const { carriers, largestRise } = risesOf(counts?.values ?? [], counts ?? { currentCount: 0, baselineCount: 0 });
  const { cause, reason } = likelyCause({
    carriers,
    largestRise,
    baselineCount: counts?.baselineCount ?? null,
    attributedShare: counts === null || counts.currentCount === 0 ? 0 : counts.attributedCount / counts.currentCount,
    opinion,
    judgedCount: regret?.judgedCount ?? 0,
    revivedCount: regret?.revivedCount ?? 0,
  });
  const shared = concentratedCarrier(carriers);
  const named = carriers.filter(({ attribute }) => attribute !== assetTypeAttribute).slice(0, mostFindings);
  const evidence: SpikeEvidence = {
    ...known,
    carriers: named.flatMap(({ attribute: key, value, share, baselineShare: usualShare }) =>
      usualShare === null ? [] : [{ key, value, share, usualShare }],
    ),
    sharedValue: shared === null ? null : valueText(shared),
    onset: onsetAtMs === null ? null : { atMs: onsetAtMs, marker },
    excess,
    // If no asset is known, the number of assets found alive is absent, not 0.
    revived:
      regret === null || regret.judgedCount === 0 ? null : { judged: regret.judgedCount, count: regret.revivedCount },
    cause,
  };
  return { evidence, named, reason };
}

/** Returns the evidence as values of `observed`, as far as it is known. */
function observedOf({ sharedValue, onset, excess, revived }: SpikeEvidence): HealthcheckResult["observed"] {
  const values = withInstants({
    carrier: sharedValue,
    revivedCount: revived?.count ?? null,
    revivedShare: revived === null ? null : revived.count / revived.judged,
    onsetAtMs: onset?.atMs ?? null,
    excess: excess?.state ?? null,
    deathsLastHour: excess?.deathsLastHour ?? null,
    usualPerHour: excess?.usualPerHour ?? null,
    excessStoppedAtMs: excess && stoppedAtMsOf(excess),
    expectedEndAtMs: excess?.expectedEndAtMs ?? null,
    marker: onset?.marker?.text ?? null,
    markerAtMs: onset?.marker?.atMs ?? null,
  });
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}

function withOnset(
  { id, findings, generatedAt }: HealthcheckResult,
  onsetAtMs: number | null,
  marker: OnsetMarker | null,
): readonly Finding[] {
  if (onsetAtMs === null) return findings;
  const after = marker === null ? "" : `, ${afterText(onsetAtMs - marker.atMs, marker.text)}`;
  const began = `began about ${timeText(onsetAtMs, Date.parse(generatedAt))} UTC${after}`.replaceAll(nbsp, " ");
  return findings.map((finding) =>
    finding.kind === id ? { ...finding, message: `${finding.message}, ${began}` } : finding,
  );
}
