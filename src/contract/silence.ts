import { dayMs } from "../base/time.ts";

/** Of one made at run time: longer ones belong into the configuration, where somebody sees them (CONTRACT 7). */
export const longestSilenceMs = 30 * dayMs;

/** Exact values or patterns with `*`, as base/text-pattern reads them; an absent key matches all (CONTRACT 7). */
export interface Matcher {
  readonly slug?: string;
  readonly check?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** A silence or maintenance window of the configuration. */
export type SilenceRule = Matcher & { readonly comment: string } & (
    | { readonly kind: "fixed"; readonly startsAtMs: number; readonly endsAtMs: number }
    /** Begins at each time of the schedule and lasts `durationMs` of elapsed time, whatever the local clock does. */
    | { readonly kind: "recurring"; readonly schedule: string; readonly durationMs: number; readonly timezone: string }
  );

/** One silence of either origin, as lists show it. */
export interface ListedSilence {
  /** null: of the configuration, which is where it can be changed. */
  readonly id: string | null;
  readonly origin: "configuration" | "runtime";
  readonly state: "pending" | "active" | "expired";
  readonly rule: SilenceRule;
  readonly createdBy: string | null;
  /** What the request said of its author beside that. */
  readonly note: string | null;
  /** null: of the configuration. */
  readonly createdAtMs: number | null;
  /** When its state changes next; null: never again. */
  readonly nextChangeAtMs: number | null;
}
