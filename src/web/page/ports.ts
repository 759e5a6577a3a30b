import type { ListedSilence } from "../../contract/silence.ts";
import type { CheckName } from "../../contract/report.ts";
import type { Severity } from "../../contract/severity.ts";
import type { AlertHistoryEntry, AlertState } from "../../store/alerts/alerts.ts";
import type { AlertComment } from "../../store/alerts/comments.ts";
import type { DeliveryAttempt, FirstAcceptance } from "../../store/alerts/deliveries.ts";
import type { FleetState } from "../../alerting/view.ts";
import type { StoredResult, VerdictPoint } from "../../store/runs/history.ts";
import type { HourSeries } from "../../store/runs/hour-series.ts";
import type { CheckState } from "../ports/checks.ts";
import type { WaitingEntry } from "../../store/alerts/outbox-entry.ts";
import type { HoldFacts } from "./alerts/act-facts.ts";

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

/** What counts are held to from an instant on. */
export interface PageThresholds {
  readonly atMs: number;
  readonly warnMultiplier: number;
  readonly failMultiplier: number;
  readonly minSpikeCount: number;
}

/** Deaths of one asset type now. */
export interface PageAssetType {
  readonly assetType: string;
  readonly count: number;
  readonly expected: number;
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

/** An alert, live or over, with what the list of alerts says of it. */
export interface PageAlert {
  readonly alert: AlertState;
  /** null while it lives. */
  readonly endsAtMs: number | null;
  /** By the configuration that holds now. */
  readonly labels: Readonly<Record<string, string>>;
  readonly url: string | null;
  readonly isSilenced: boolean;
  readonly silencedUntilMs: number | null;
  /** While it is pending; null: it is not, or unknown. */
  readonly firesAtMs: number | null;
  /** What was expected at its peak; null: nothing counts it, or it is not known. */
  readonly expected: number | null;
  /** At its peak; null where nothing was expected, or without counts. */
  readonly ratio: number | null;
  /** Its deaths of named assets, and how many of these were found alive again; null: unknown, or not counted yet. */
  readonly deaths: { readonly judgedCount: number; readonly revivedCount: number } | null;
}

/** What the configuration says about the acts of people on alerts of an organization. */
export interface PageActRules {
  /** What opens its gate, beside a release by hand. */
  readonly releaseOn: readonly string[];
  /** 0: no reminders. */
  readonly repeatIntervalMs: number;
  /** Receivers that are notified by escalation, with how long they wait, milliseconds. */
  readonly escalations: readonly { readonly name: string; readonly afterMs: number }[];
}

/** Everything that is kept of one alert. */
export interface PageAlertDetail {
  readonly view: PageAlert;
  /** Its life, oldest first. */
  readonly history: readonly AlertHistoryEntry[];
  /** What people said that it was, oldest first. */
  readonly comments: readonly AlertComment[];
  /** What a run found when it was at its worst, of one that is over; null: it lives, or nothing of it is kept. */
  readonly worstResult: StoredResult | null;
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

/** A stretch in which a silence held, epoch ms. */
export interface PageSilencedSpan {
  readonly fromMs: number;
  readonly toMs: number;
  readonly comment: string;
  /** null: of the configuration. */
  readonly madeAtMs: number | null;
  readonly by: string | null;
}

/** Where the fleet stands against the bounds of its verdict. */
export interface PageFleetStanding {
  /** Organizations whose spike alert fires. */
  readonly spiking: ReadonlySet<string>;
  /** Those with a result, and those that fire. */
  readonly organizations: number;
  /** From how many on that fire there is a verdict; null: none is ever given. */
  readonly bound: number | null;
}

/** What the pages need beside the ports of the API. All of it is of the spike check where nothing else is said. */
export interface PagePort {
  /** In the configuration's order. */
  organizations(): readonly PageOrganization[];
  /** Where the fleet stands, as decides about its verdict. */
  fleetStanding(states: readonly CheckState[], alerts: readonly AlertState[]): PageFleetStanding;
  /** What is wrong with the store, in words, beginning in lower case; null when nothing is. */
  storeProblem(): string | null;
  /** Size of the store, bytes. */
  storeBytes(): Promise<number>;
  /** `embedded`, or the host of the remote source. */
  source(): string;
  /** The last run of each hour of the last seven days, oldest first, the current hour included; null: not read yet. */
  hours(slug: string): HourSeries | null;
  /** Reads those that are not read yet; calls the listeners when they are. */
  readHours(slugs: readonly string[]): Promise<void>;
  points(slug: string, fromMs: number, toMs: number): Promise<readonly VerdictPoint[]>;
  /** When messages of its spike alerts were held back within the time, oldest first. */
  silencedSpans(slug: string, fromMs: number, toMs: number): Promise<readonly PageSilencedSpan[]>;
  /** What its last run left out of the baseline, as far as it lasts at `nowMs`; empty where nothing is left out. */
  excludedSpans(slug: string, nowMs: number): Promise<readonly { readonly fromMs: number; readonly toMs: number }[]>;
  /** Comments on these alerts, oldest first. */
  commentsOn(alertIds: readonly string[]): Promise<readonly AlertComment[]>;
  /** What its runs held their counts to, oldest first, from each instant on; empty where no run of the time is kept. */
  thresholdsOf(slug: string, fromMs: number, toMs: number): Promise<readonly PageThresholds[]>;
  alertHistory(check: CheckName, slug: string, fromMs: number): Promise<readonly AlertHistoryEntry[]>;
  /** Local sources only; empty for a remote one, whose findings are all that is known. */
  assetTypes(slug: string): Promise<readonly PageAssetType[]>;
  /** The latest fleet verdicts, newest first. */
  fleets(): Promise<readonly FleetState[]>;
  /** Since when gates are shut, by organization; those that are open are absent. */
  heldSince(): Promise<ReadonlyMap<string, number>>;
  /** Who accepted this fleet verdict, and who has not yet. */
  notifiedOfFleet(fleetId: string): Promise<{
    readonly accepted: readonly FirstAcceptance[];
    readonly waiting: readonly WaitingEntry[];
  }>;
  /** null: the organization is not configured. */
  actRules(slug: string): PageActRules | null;
  /** Reads what holds gates, and returns what of it an alert does, and would after each act on it. */
  holds(): Promise<(alert: AlertState) => HoldFacts>;
  /** Those that live, and those that are over as long as they are kept, the newest first. */
  alerts(): Promise<readonly PageAlert[]>;
  /** One that is live or kept; null: there is none. */
  alert(id: string): Promise<PageAlertDetail | null>;
  /** Those of the configuration, then those made at run time as long as they are kept. */
  silences(): Promise<readonly PageSilence[]>;
  /** For how long what is over is kept, milliseconds. */
  retentionMs(): number;
  /** Until when the alerts of an organization are silenced; null: unknown, or they are not. */
  silencedUntilMs(): Promise<(slug: string) => number | null>;
  /** What receivers answered to notifications of this organization since `fromMs`, oldest first. */
  deliveriesOf(slug: string, fromMs: number): Promise<readonly DeliveryAttempt[]>;
  /** What a receiver, or all of them (null), answered last, newest first. */
  deliveries(receiver: string | null, limit: number): Promise<readonly DeliveryAttempt[]>;
  /** The last attempt that a receiver accepted, or the last that it did not; null without one. */
  lastDelivery(receiver: string, isAccepted: boolean): Promise<DeliveryAttempt | null>;
  queue(signal: AbortSignal): Promise<PageQueue>;
  /** How many reports wait, as far as the last runs of the checks know. */
  configuration(): PageConfiguration;
  /** Calls `listener` after each recorded run and each change of an alert or silence, until the answer is called. */
  subscribe(listener: () => void): () => void;
}
