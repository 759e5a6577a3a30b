import type { ListedSilence } from "../../contract/silence.ts";
import type { Severity } from "../../contract/severity.ts";
import type { DeliveryAttempt } from "../../store/alerts/deliveries.ts";
import type { HourSeries } from "../../store/runs/hour-series.ts";

/** One setting of an organization as it holds. */
export interface PageSetting {
  readonly name: string;
  readonly value: string;
  /** `file:line`, or `default`. */
  readonly setIn: string;
  /** It is set for this organization, not for all. */
  readonly isOwn: boolean;
}

/** What the configuration says of an organization's spike check. */
export interface PageOrganization {
  readonly slug: string;
  /** Where it comes from: the discovery source that lists it, or the place in a file of the configuration, `file:line`. */
  readonly origin:
    { readonly kind: "discovery"; readonly source: string } | { readonly kind: "file"; readonly place: string };
  readonly labels: Readonly<Record<string, string>>;
  readonly thresholds: {
    readonly windowHours: number;
    readonly baselineDays: number;
    readonly warnMultiplier: number;
    readonly failMultiplier: number;
    readonly minSpikeCount: number;
  };
  /** What holds, in order, and where it was set: `file:line`, `defaults`, or `default`. */
  readonly settings: readonly PageSetting[];
  /** How long it must be bad before it fires, milliseconds. */
  readonly forMs: number;
}

/** A proposal that waits for the customer. */
export interface PageProposal {
  readonly id: string;
  readonly decision: string | null;
  readonly assetId: string;
  readonly assetType: string;
  readonly content: string;
}

/** A report that waits for the customer, with its proposals that wait. */
export interface PageQueuedReport {
  readonly slug: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly reportId: string;
  readonly title: string | null;
  readonly createdAtMs: number | null;
  readonly proposals: readonly PageProposal[];
  readonly sla: { readonly dueAtMs: number | null; readonly breached: boolean } | null;
  /** What else the service says of it, in order. */
  readonly facts: readonly { readonly name: string; readonly value: string }[];
  /** warnAfter of its organization. */
  readonly warnAfterMs: number;
  readonly failAfterMs: number;
}

/** What waits in all review queues that are watched; of what could not be asked, why. */
export interface PageQueue {
  readonly reports: readonly PageQueuedReport[];
  readonly failures: readonly { readonly slug: string; readonly message: string }[];
  /** No organization has a watched queue. */
  readonly isWatched: boolean;
}

export interface PageConfiguration {
  /** The effective configuration as YAML, secrets as `***`; of many organizations the first. */
  readonly text: string;
  /** How many organizations of the files are not in `text`. */
  readonly omitted: number;
  readonly files: readonly string[];
  readonly appliedAtMs: number;
  /** The last reload; null: none since the start. */
  readonly lastReload: { readonly atMs: number; readonly problem: string | null } | null;
}

/** A silence of either origin with what it holds back, and of a recurring one the window that holds, else the next. */
export interface PageSilence extends ListedSilence {
  readonly startsAtMs: number;
  readonly endsAtMs: number;
  /** The configured ones that it is about. */
  readonly organizations: readonly string[];
  /** Severities of the alerts that fire and are meant by it. */
  readonly firing: readonly Severity[];
}

/** What the pages need beside the ports of the API. */
export interface PagePort {
  /** In the configuration's order. */
  organizations(): readonly PageOrganization[];
  /** What is wrong with the store, in words, beginning in lower case; null when nothing is. */
  storeProblem(): string | null;
  /** Size of the store, bytes. */
  storeBytes(): Promise<number>;
  /** The last run of each hour of the last seven days, oldest first, the current hour included; null: not read yet. */
  hours(slug: string): HourSeries | null;
  /** Reads those that are not read yet; calls the listeners when they are. */
  readHours(slugs: readonly string[]): Promise<void>;
  /** Those of the configuration, then those made at run time as long as they are kept. */
  silences(): Promise<readonly PageSilence[]>;
  /** For how long what is over is kept, milliseconds. */
  retentionMs(): number;
  /** What a receiver, or all of them (null), answered last, newest first. */
  deliveries(receiver: string | null, limit: number): Promise<readonly DeliveryAttempt[]>;
  /** The last attempt that a receiver accepted, or the last that it did not; null without one. */
  lastDelivery(receiver: string, isAccepted: boolean): Promise<DeliveryAttempt | null>;
  queue(signal: AbortSignal): Promise<PageQueue>;
  configuration(): PageConfiguration;
  /** Calls `listener` after each recorded run and each change of an alert or silence, until the answer is called. */
  subscribe(listener: () => void): () => void;
}
