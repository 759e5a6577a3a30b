import type { FirstEvents } from "../contract/liveness-counts.ts";
import type { Finding, HealthcheckResult } from "../contract/healthcheck.ts";
import type { PlatformApi, SpikeRequest } from "../contract/platform-api.ts";
import { FlatlineError, type ErrorCode } from "../base/errors.ts";
import type { CheckErrorReason, ResultReport } from "../contract/report.ts";
import type { SpikeEvaluation } from "../spike/evaluate.ts";
import type { StoreParts } from "../store/store-parts.ts";
import type { z } from "zod";
import type { Whole } from "../base/schema/section.ts";

/** When an organization's check runs (CONTRACT 4: schedule, timezone, jitter). */
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

/** The five thresholds as the healthcheck's request carries them. */
export type SpikeThresholds = Omit<SpikeRequest, "slug">;

/** One check of one organization, with what every check has. */
export interface AnyTarget {
  readonly slug: string;
  readonly schedule: Schedule;
}

/** A check over liveness events that are stored here. */
export interface EventTarget extends AnyTarget {
  /** The result of a run for an organization that never had an event; absent: this is not asked. */
  readonly whenNoEvents?: CheckedOrganization["whenNoEvents"];
}

/** A key of an organization, and of `defaults`, in the configuration: the settings of one check. */
export interface CheckSettings {
  readonly key: string;
  /** What the check needs of the source. */
  readonly needs: "hasReports" | "holdsEvents";
  readonly description: string;
  /** The settings, each built in. */
  readonly shape: z.core.$ZodLooseShape;
  /** The setting that switches the check on: `true`, or a list with items. Absent: the key itself does, even as `{}`. */
  readonly switchedBy?: string;
}

/** A check that its key in the configuration switches on. */
export interface SettingsTarget<Name extends string, Of extends CheckSettings> extends EventTarget {
  readonly check: Name;
  readonly settings: Whole<Of["shape"]>;
}

/** The configuration of an organization that every check needs; a check asks for its own settings beside it. */
export interface CheckedOrganization extends Omit<Schedule, "pattern"> {
  readonly slug: string;
  /** Cron pattern. */
  readonly schedule: string;
  /**
   * What an organization without any stored event means: nothing is known, or a stream of deaths only had none
   * (CONTRACT 11); null: no event is stored here.
   */
  readonly whenNoEvents: "unknown" | "ok" | null;
}

/** What checks read of stored events beside their counts. */
export interface StoredEvents {
  readonly liveness: StoreParts["liveness"];
  readonly evidence: Pick<StoreParts["evidence"], "assetEvents">;
  readonly events: Pick<StoreParts["events"], "firstEventAtMs">;
}

/** What a run of a check may use. */
export interface CheckRun {
  readonly nowMs: number;
  readonly signal: AbortSignal;
  /** Returns the platform as the organization may ask it. */
  readonly api: () => PlatformApi;
  /** Local sources only. */
  readonly firstEvents?: ((slugs: readonly string[]) => Promise<FirstEvents | null>) | undefined;
  /** Of a spike, by a local source; absent: `api` evaluates. */
  readonly evaluation?: SpikeEvaluation | undefined;
  /** Local events only. */
  readonly events?: StoredEvents | undefined;
  /** Local events only: returns the result of a spike with what they say; never rejects but when `signal` aborts. */
  readonly evidence?:
    | ((
        found: Pick<Evaluated, "result" | "evidence">,
        target: { readonly slug: string; readonly thresholds: SpikeThresholds },
        signal: AbortSignal,
      ) => Promise<Pick<Evaluated, "result" | "evidence">>)
    | undefined;
  /** The organization's address in the application, for results that are made here. */
  readonly appUrl: string | null;
}

/** What a run of a check found. */
export type Evaluated = Pick<ResultReport, "result" | "baselineCoverage" | "evidence">;

/** Everything that depends on the kind of a check. */
export interface CheckKind {
  /** Whether its failure says that deaths cannot be trusted; a full review queue says nothing of them. */
  readonly holdsGate: boolean;
  /** Name of the alert in Alertmanager and Prometheus (CONTRACT 7). */
  readonly alertName: string;
  /** Says why an alert is over, without a claim that something was repaired: no person has looked (CONTRACT 7). */
  readonly back: string;
  /** Whether the first finding of its result says what is wrong, and the others are details. */
  readonly isSaidByFinding: boolean;
  /** Returns whether a finding is for readers with the right to details only (CONTRACT 13). Absent: none is. */
  readonly isClosedFinding?: (finding: Finding) => boolean;
  /** Whether `source.observedKeys` say where its result has counts of deaths. */
  readonly countsDeaths?: true;
  /** Reasons of its own for errors that end a run [those of every check]. */
  readonly errorReasons?: Readonly<Partial<Record<ErrorCode, CheckErrorReason>>>;
  /** Whether a run has a result for a time that is past: what it asks for is kept. */
  readonly canLookBack: boolean;
  /** Returns what its result says, as the end of a line. Absent: the first finding, or the counts of deaths. */
  summaryOf?(said: { readonly result: HealthcheckResult | null }, durationText: (ms: number) => string): string;
  /** Its own key in the configuration; absent: it has none. */
  readonly settings?: CheckSettings;
  /** Runs it once. @throws FlatlineError for every reason for which there is no result */
  run(target: AnyTarget, run: CheckRun): Promise<Evaluated>;
}

/** Returns the reads of a check that the configuration refuses where no events are stored. */
export function requireEvents({ events }: CheckRun, check: string): StoredEvents {
  if (events === undefined)
    throw new FlatlineError("internal", `${check} needs stored events, and this source has none`);
  return events;
}

/**
 * Returns whether the organization's events have begun, and when; null: none, or the first was deleted since.
 * Undefined: nothing is known. @throws no_events unless that counts as ok
 */
export function firstEventOf({ slug, whenNoEvents }: EventTarget, known: FirstEvents | null) {
  if (known === null) return undefined;
  const hasBegun = known.has(slug);
  if (hasBegun || whenNoEvents !== "unknown") return { hasBegun, atMs: known.get(slug) ?? null };
  const message = `no liveness event of ${JSON.stringify(slug)} was ever stored, so nothing is known of it: see whether its events arrive and name it so; for a stream that carries deaths only, set whenNoEvents: ok`;
  throw new FlatlineError("no_events", message);
}

/** Reads the same. @throws no_events, and the errors of the read */
export async function readFirstEvent(target: EventTarget, { firstEvents }: Pick<CheckRun, "firstEvents">) {
  return firstEventOf(target, (await firstEvents?.([target.slug])) ?? null);
}

/** Of which organization a result is, and when. */
export interface Evaluation extends Pick<CheckRun, "nowMs" | "appUrl"> {
  readonly slug: string;
}

type Made = Pick<HealthcheckResult, "id" | "title" | "category" | "severity" | "observed" | "threshold" | "findings">;

/** Returns a result that is made here, in the API's shape; `advice` is for one that is not ok. */
export function resultOf(
  { slug, nowMs, appUrl }: Evaluation,
  { id, title, category, severity, advice, ...made }: Made & { readonly advice: string },
): HealthcheckResult {
  const ok = severity === "ok";
  const generatedAt = new Date(nowMs).toISOString();
  const suggestedAction = ok ? null : advice;
  return { id, title, category, generatedAt, scope: { slug }, ok, severity, ...made, suggestedAction, appUrl };
}
