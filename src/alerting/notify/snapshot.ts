import { describeAuthor } from "../../contract/actor.ts";
import type { HealthcheckResult } from "../../contract/healthcheck.ts";
import type { CheckErrorReason, CheckName, CheckReport, ObservedCounts } from "../../contract/report.ts";
import type { SampledAsset } from "./notification.ts";
import type { SpikeOnset } from "../../contract/spike-onset.ts";
import type { Severity } from "../../contract/severity.ts";
import type { AlertJudgement, AlertKind, AlertPeak, AlertState } from "../../store/alerts/alerts.ts";
import type { CheckState } from "../../store/runs/check-state.ts";

/** An alert as it was at one moment: everything of a notice that is the same for every receiver. */
export interface AlertSnapshot {
  readonly id: string;
  readonly check: CheckName;
  readonly slug: string;
  readonly kind: AlertKind;
  readonly severity: Severity;
  readonly startsAtMs: number;
  readonly endsAtMs: number | null;
  readonly peak: AlertPeak;
  readonly onset?: SpikeOnset;
  readonly labels: Readonly<Record<string, string>>;
  readonly url: string | null;
  readonly result: HealthcheckResult | null;
  readonly counts: ObservedCounts | null;
  readonly error: { readonly reason: CheckErrorReason; readonly message: string } | null;
  readonly incident?: { readonly id: string; readonly number: number };
  /** The one that held then; absent: none. */
  readonly judgement?: AlertJudgement;
  /** Who had acknowledged it then, as a person reads it; absent: nobody. */
  readonly acknowledgedBy?: string;
  /** Dead assets of a spike over stored events, while it lasts; absent: none. */
  readonly sample?: readonly SampledAsset[];
}

/** What the configuration says of an alert's organization, as far as a notice shows it. */
export interface SnapshotContext {
  readonly labels: Readonly<Record<string, string>>;
  readonly url: string | null;
  /** Dead assets of the change that is notified [none]. */
  readonly sample?: readonly SampledAsset[];
}

/** Returns the alert with the report that goes with it: null when none is known. */
export function snapshotOf(
  alert: AlertState,
  report: CheckReport | null,
  context: SnapshotContext,
  endsAtMs: number | null,
): AlertSnapshot {
  const { id, check, slug, kind, severity, startsAtMs, peak, onset, judgement, incident, acknowledgement } = alert;
  const shown = report?.kind === "result" ? report : null;
  return {
    id,
    check,
    slug,
    kind,
    severity,
    startsAtMs,
    endsAtMs,
    peak,
    ...(onset === undefined ? {} : { onset }),
    labels: context.labels,
    url: context.url ?? shown?.result.appUrl ?? null,
    result: shown?.result ?? null,
    counts: shown?.counts ?? null,
    error: report?.kind === "error" ? report.error : null,
    ...(incident === undefined ? {} : { incident }),
    ...(judgement === undefined ? {} : { judgement }),
    ...(acknowledgement === null ? {} : { acknowledgedBy: describeAuthor(acknowledgement.by, acknowledgement.note) }),
    ...(context.sample === undefined ? {} : { sample: context.sample }),
  };
}

/** Returns the report that goes with an alert of that kind now: for a verdict the last one with a result. */
export function reportFor(
  kind: AlertKind,
  state: Pick<CheckState, "lastReport" | "lastResultReport"> | null,
): CheckReport | null {
  if (state === null) return null;
  return kind === "verdict" && state.lastReport.kind !== "result" ? state.lastResultReport : state.lastReport;
}

/** Returns the text that the store keeps of a snapshot. */
export function writeSnapshot(snapshot: AlertSnapshot): string {
  return JSON.stringify(snapshot);
}

/** Returns the snapshot of a text that writeSnapshot wrote in the same schema version of the store. */
export function readSnapshot(text: string): AlertSnapshot {
  return JSON.parse(text) as AlertSnapshot;
}
