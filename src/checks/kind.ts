import type { FirstEvents } from "../contract/liveness-counts.ts";
import type { Finding, HealthcheckResult } from "../contract/healthcheck.ts";
import type { PlatformApi, SpikeRequest } from "../contract/platform-api.ts";
import { FlatlineError, type ErrorCode } from "../base/errors.ts";
import type { CheckErrorReason, ResultReport } from "../contract/report.ts";
import type { SpikeEvaluation } from "../spike/evaluate.ts";
import type { StoreParts } from "../store/store-parts.ts";
import type { z } from "zod";
import type { Whole } from "../base/schema/section.ts";

/** The times at which a check runs (CONTRACT 4: schedule, timezone, jitter). */
export interface Schedule {
  readonly pattern: string;
  readonly timezone: string;
  /** Start times are spread over [0, jitterMs), the same for one slug at each tick. */
  readonly jitterMs: number;
}

/** Returns the schedule of a cron pattern [the organization's]. */
export function scheduleOf(
  { schedule, timezone, jitterMs }: Omit<CheckedOrganization, "slug" | "whenNoEvents">,
  pattern: string | null = null,
): Schedule {
  return { pattern: (pattern ?? schedule).trim(), timezone, jitterMs };
}

/** The five thresholds of the healthcheck's request. */
export type SpikeThresholds = Omit<SpikeRequest, "slug">;

/** One check of one organization. */
export interface AnyTarget {
  readonly slug: string;
  readonly schedule: Schedule;
}

/** A check over liveness events that are stored here. */
export interface EventTarget extends AnyTarget {
  /** The result for an organization that never had an event; absent: not asked. */
  readonly whenNoEvents?: CheckedOrganization["whenNoEvents"];
}

/** The settings of one check: a key of an organization and of `defaults` in the configuration. */
export interface CheckSettings {
  readonly key: string;
  /** The property that the source must have. */
  readonly needs: "hasReports" | "holdsEvents";
  readonly description: string;
  /** The settings, each with a default. */
  readonly shape: z.core.$ZodLooseShape;
  /** The setting that switches the check on when it is `true` or a list with items. Absent: the key itself does. */
  readonly switchedBy?: string;
}

/** A check that its key in the configuration switches on. */
export interface SettingsTarget<Name extends string, Of extends CheckSettings> extends EventTarget {
  readonly check: Name;
  readonly settings: Whole<Of["shape"]>;
}

/** The configuration of an organization that every check needs. */
export interface CheckedOrganization extends Omit<Schedule, "pattern"> {
  readonly slug: string;
  /** Cron pattern. */
  readonly schedule: string;
  /** The result when the organization never had an event (CONTRACT 11); null: no event is stored here. */
  readonly whenNoEvents: "unknown" | "ok" | null;
}

/** The reads of stored events that checks need beside the counts. */
export interface StoredEvents {
  readonly liveness: StoreParts["liveness"];
  readonly evidence: Pick<StoreParts["evidence"], "assetEvents">;
  readonly events: Pick<StoreParts["events"], "firstEventAtMs">;
}

/** What a run of a check may use. */
export interface CheckRun {
  readonly nowMs: number;
  readonly signal: AbortSignal;
  /** Returns the platform's API with the rights of the organization. */
  readonly api: () => PlatformApi;
  /** Local sources only. */
  readonly firstEvents?: ((slugs: readonly string[]) => Promise<FirstEvents | null>) | undefined;
  /** The evaluation of a spike by a local source; absent: `api` evaluates. */
  readonly evaluation?: SpikeEvaluation | undefined;
  /** Local events only. */
  readonly events?: StoredEvents | undefined;
  /** Local events only: adds what they say to the result of a spike. Rejects only when `signal` aborts. */
  readonly evidence?:
    | ((
        found: Pick<Evaluated, "result" | "evidence">,
        target: { readonly slug: string; readonly thresholds: SpikeThresholds },
        signal: AbortSignal,
      ) => Promise<Pick<Evaluated, "result" | "evidence">>)
    | undefined;
  /** The organization's address in the application. */
  readonly appUrl: string | null;
}

export type Evaluated = Pick<ResultReport, "result" | "baselineCoverage" | "evidence">;

/** Everything that depends on the kind of a check. */
export interface CheckKind {
  /** Whether its failure means that deaths cannot be trusted. */
  readonly holdsGate: boolean;
  /** Name of the alert in Alertmanager and Prometheus (CONTRACT 7). */
  readonly alertName: string;
  /** The reason why an alert is over; it does not claim that something was repaired (CONTRACT 7). */
  readonly back: string;
  /** Whether the first finding says what is wrong and the others are details. */
  readonly isSaidByFinding: boolean;
  /** Returns whether only readers with the right to details see a finding (CONTRACT 13). Absent: all see all. */
  readonly isClosedFinding?: (finding: Finding) => boolean;
  /** Whether its result has counts of deaths, under `source.observedKeys`. */
  readonly countsDeaths?: true;
  /** The reasons for errors of this check alone [those of every check]. */
  readonly errorReasons?: Readonly<Partial<Record<ErrorCode, CheckErrorReason>>>;
  /** Whether a run can have a result for a past time. */
  readonly canLookBack: boolean;
  /** Returns the result as the end of a line. Absent: the first finding, or the counts of deaths. */
  summaryOf?(said: { readonly result: HealthcheckResult | null }, durationText: (ms: number) => string): string;
  readonly settings?: CheckSettings;
  /** Runs it once. @throws FlatlineError when there is no result */
  run(target: AnyTarget, run: CheckRun): Promise<Evaluated>;
}

/** Returns the stored events. The configuration refuses `check` where there are none. */
export function requireEvents({ events }: CheckRun, check: string): StoredEvents {
  if (events === undefined)
    throw new FlatlineError("internal", `${check} needs stored events, and this source has none`);
  return events;
}

/**
 * Returns whether the organization ever had an event, and when the first was, epoch ms; null: none, or it was deleted.
 * Undefined: nothing is known. @throws no_events when it had none and that counts as unknown
 */
export function firstEventOf({ slug, whenNoEvents }: EventTarget, known: FirstEvents | null) {
  if (known === null) return undefined;
  const hasBegun = known.has(slug);
  if (hasBegun || whenNoEvents !== "unknown") return { hasBegun, atMs: known.get(slug) ?? null };
  const message =
    `no liveness event of ${JSON.stringify(slug)} was ever stored, so nothing is known of it: ` +
    "see whether its events arrive and name it so; for a stream that carries deaths only, set whenNoEvents: ok";
  throw new FlatlineError("no_events", message);
}

/** Reads what `firstEventOf` returns. @throws no_events, and the errors of the read */
export async function readFirstEvent(target: EventTarget, { firstEvents }: Pick<CheckRun, "firstEvents">) {
  return firstEventOf(target, (await firstEvents?.([target.slug])) ?? null);
}

/** The organization and the time of a result. */
export interface Evaluation extends Pick<CheckRun, "nowMs" | "appUrl"> {
  readonly slug: string;
}

type Made = Pick<HealthcheckResult, "id" | "title" | "category" | "severity" | "observed" | "threshold" | "findings">;

/** Returns a result in the API's shape; it has `advice` unless it is ok. */
export function resultOf(
  { slug, nowMs, appUrl }: Evaluation,
  { id, title, category, severity, advice, ...made }: Made & { readonly advice: string },
): HealthcheckResult {
  const ok = severity === "ok";
  const generatedAt = new Date(nowMs).toISOString();
  const suggestedAction = ok ? null : advice;
  return { id, title, category, generatedAt, scope: { slug }, ok, severity, ...made, suggestedAction, appUrl };
}
