import { describeAuthor } from "../../contract/actor.ts";
import type { HealthcheckResult } from "../../contract/healthcheck.ts";
import type { CheckErrorReason, CheckName, CheckReport, ObservedCounts } from "../../contract/report.ts";
import type { SpikeOnset } from "../../contract/spike-evidence.ts";
import type { Severity } from "../../contract/severity.ts";
import type { AlertEnd, AlertJudgement, AlertKind, AlertPeak, AlertState } from "../../store/alerts/alerts.ts";
import type { CheckState } from "../../store/runs/check-state.ts";

/** Everything of a notice that is the same for every receiver. */
export interface AlertFacts {
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
}

/** What the configuration says of an alert's organization, as far as a notice shows it. */
export interface AlertContext {
  readonly labels: Readonly<Record<string, string>>;
  readonly url: string | null;
}

/** Returns the alert with the report that goes with it: null when none is known. */
export function factsOf(
  alert: AlertState,
  report: CheckReport | null,
  context: AlertContext,
  end: Pick<AlertEnd, "atMs"> | null,
): AlertFacts {
  const { id, check, slug, kind, severity, startsAtMs, peak, onset, judgement, incident, acknowledgement } = alert;
  const shown = report?.kind === "result" ? report : null;
  return {
    id,
    check,
    slug,
    kind,
    severity,
    startsAtMs,
    endsAtMs: end === null ? null : end.atMs,
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
