import type { CheckName } from "../contract/report.ts";

/** Exact values or patterns with `*`; an absent key matches all (CONTRACT 7). */
export interface Matcher {
  readonly slug?: string;
  readonly check?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** When alerts of one (check, slug) fire, end and speak again; milliseconds. */
export interface AlertPolicy {
  readonly forMs: number;
  readonly keepFiringForMs: number;
  /** Consecutive runs without a result until the alert of kind unknown fires, ≥ 1. */
  readonly unknownAfter: number;
  /** 0: never. */
  readonly repeatIntervalMs: number;
  /** Share (0–1) of the baseline that must lie after the first stored event; below it an alert stays pending. */
  readonly minBaselineCoverage: number;
}

/** What alerting knows of a (check, slug) by the configuration that holds now. */
export interface AlertTarget {
  readonly policy: AlertPolicy;
  /** Names of receivers; those that exist get what also passes their own match and minSeverity. */
  readonly receivers: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** Where a reader goes from the notification; null when there is nowhere. */
  readonly url: string | null;
  /** A shadow organization of `flatline drill`: told without waiting, never part of the fleet. */
  readonly isDrill: boolean;
}

/** What one receiver wants to be told. */
export interface ReceiverRoute {
  readonly name: string;
  readonly minSeverity: "warn" | "fail";
  readonly sendResolved: boolean;
  /** Whether it is told of alerts of kind unknown, whatever its minSeverity; the configuration says so unless that is fail. */
  readonly sendUnknown: boolean;
  readonly match: Matcher | null;
  /** Each of them is sent a notification of its own; absent: the receiver is one. */
  readonly recipients?: readonly string[];
}

/** A silence or maintenance window of the configuration. */
export type SilenceRule = Matcher & { readonly comment: string } & (
    | { readonly kind: "fixed"; readonly startsAtMs: number; readonly endsAtMs: number }
    /** Begins at each time of the schedule and lasts `durationMs` of elapsed time, whatever the local clock does. */
    | { readonly kind: "recurring"; readonly schedule: string; readonly durationMs: number; readonly timezone: string }
  );

/** The fleet verdict begins when both bounds are reached. */
export interface FleetBounds {
  readonly minOrganizations: number;
  /** 0–1, of the organizations with a result. */
  readonly ratio: number;
}

/** The part of the configuration that alerting works by; a reload replaces it as a whole. */
export interface AlertingSettings {
  readonly groupWaitMs: number;
  readonly groupIntervalMs: number;
  /** null: no fleet verdict. */
  readonly fleet: FleetBounds | null;
  readonly externalUrl: string | null;
  readonly receivers: readonly ReceiverRoute[];
  readonly silences: readonly SilenceRule[];
  /** null: it is not, or no longer, checked. */
  targetOf(check: CheckName, slug: string): AlertTarget | null;
}
