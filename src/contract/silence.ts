import { dayMs } from "../base/time.ts";

/** The limit of silences made at run time: the configuration is the place for longer ones (CONTRACT 7). */
export const longestSilenceMs = 30 * dayMs;

/** Exact values, or patterns with `*` (base/text-pattern); an absent key matches all (CONTRACT 7). */
export interface Matcher {
  readonly slug?: string;
  readonly check?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export type SilenceRule = Matcher & { readonly comment: string } & (
    | { readonly kind: "fixed"; readonly startsAtMs: number; readonly endsAtMs: number }
    /** Begins at each time of the schedule and lasts `durationMs` of elapsed time, whatever the local clock does. */
    | { readonly kind: "recurring"; readonly schedule: string; readonly durationMs: number; readonly timezone: string }
  );
