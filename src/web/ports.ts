import type { ListedSilence } from "../contract/silence.ts";
import type { FleetEvidence } from "../contract/fleet/evidence.ts";
import type { Secret } from "../base/secret.ts";
import type { Actor } from "../contract/actor.ts";
import type { JudgementVerdict } from "../contract/judgement.ts";
import type { AuditStore } from "../store/acts/audit.ts";
import type { Right } from "../contract/rights.ts";
import type { CheckName, CheckReport } from "../contract/report.ts";
import type { Severity } from "../contract/severity.ts";
import type { ExpositionEncoding } from "../metrics/exposition-body.ts";
import type { ExpositionFormat } from "../metrics/exposition.ts";
import type { AlertHistoryEntry, AlertJudgement, AlertState } from "../store/alerts/alerts.ts";
import type { AlertComment } from "../store/alerts/comments.ts";
import type { JudgementEntry } from "../store/alerts/judgements.ts";
import type { IngestOutcome } from "../store/events/events.ts";
import type { EventPlace } from "../store/events/evidence.ts";
import type { Marker } from "../store/alerts/markers.ts";
import type { FleetState } from "../store/alerts/notices.ts";
import type { OutboxEntry } from "../store/alerts/outbox.ts";
import type { StoredResult } from "../store/runs/history.ts";
import type { NewSilence, SilenceChange } from "../store/alerts/silences.ts";

/** Who may read and write; asked at each request, so that a reload changes it. */
export interface AccessSettings {
  readonly tokens: readonly TokenAccess[];
  /** With neither a token nor this all writes and protected reads are refused. */
  readonly trustedProxy: ProxyAccess | null;
  /** By which people reach flatline. */
  readonly externalUrl: string | null;
  readonly publicRead: boolean;
}

/** A reverse proxy that says who asks. */
export interface ProxyAccess {
  /** Addresses, and ranges of them: `10.0.0.0/8`. */
  readonly from: readonly string[];
  readonly userHeader: string;
  readonly groupsHeader: string;
  /** The rights of each group. */
  readonly may: Readonly<Record<string, readonly Right[]>>;
  /** The patterns of slugs that each group is for; who is in none of these is for all. */
  readonly organizations: Readonly<Record<string, readonly string[]>>;
}

/** A token and what it is good for. */
export interface TokenAccess {
  readonly name: string;
  readonly secret: Secret;
  readonly rights: ReadonlySet<Right>;
  /** Patterns of slugs; null: every organization. */
  readonly organizations: readonly string[] | null;
}

export interface MetricsPort {
  /** The whole answer of `/metrics`. */
  render(format: ExpositionFormat, encoding: ExpositionEncoding): Promise<Buffer>;
}

export interface ProbePort {
  /**
   * Runs the check now without counting or storing it, shared with other probes of the same; an error report with reason
   * `timeout` when it does not end within `timeoutMs`. Null: no such check of such an organization is configured.
   */
  probe(check: CheckName, slug: string, timeoutMs: number): Promise<CheckReport | null>;
}

/** Whether all is well; the reasons are for people. */
export interface HealthVerdict {
  readonly ok: boolean;
  readonly reasons: readonly string[];
}

export interface HealthPort {
  /** The scheduler and the outbox tick. */
  isHealthy(): HealthVerdict;
  /** The store is open, the configuration is applied, and the process is not stopping. */
  isReady(): HealthVerdict;
}

/** What another service says of the incidents that alerts opened there. */
export interface HooksPort {
  /**
   * Applies a webhook of PagerDuty. `unsigned`: it is not of that receiver's secret; `ignored`: it is about nothing that
   * changes an alert; else what became of it. @throws FlatlineError invalid_data for a signed body that is no webhook
   */
  pagerduty(webhook: {
    readonly receiver: string;
    readonly body: Uint8Array;
    readonly signature: string;
  }): Promise<"unsigned" | "ignored" | "applied" | "repeated" | "late" | "no_alert" | "unchanged" | "opens_gate">;
}

/** The parts of a link of a message, as they came. */
export interface LinkParts {
  readonly act: string;
  readonly alertId: string;
  readonly receiver: string;
  readonly until: string;
  readonly signature: string;
}

/** A link that holds: what following it does, or did. */
export interface LinkView {
  readonly kind: "known";
  readonly act: "acknowledge" | "silence";
  readonly alertId: string;
  readonly receiver: string;
  readonly expiresAtMs: number;
  readonly outcome: "applied" | "repeated" | "late" | "no_alert" | "unchanged" | "opens_gate";
  /** null once it has ended. */
  readonly alert: { readonly slug: string; readonly severity: Severity; readonly words: string } | null;
  /** Whether the alert may hold the gate. */
  readonly holdsGate: boolean;
}

export type LinkAnswer = LinkView | { readonly kind: "refused"; readonly reason: "altered" | "expired" };

export interface LinksPort {
  /** What the link would do; changes nothing. */
  look(link: LinkParts): Promise<LinkAnswer>;
  /** Does it, once. */
  follow(link: LinkParts): Promise<LinkAnswer>;
}

export interface ReloadPort {
  /** Reads the configuration again and applies it. @throws FlatlineError invalid_config with one issue per problem */
  reload(author: Actor): Promise<void>;
}

/** The last state of a configured check, and when it is due again. */
export interface CheckState {
  readonly check: CheckName;
  readonly slug: string;
  readonly nextDueAtMs: number;
  /** By this process, just now. */
  readonly isRunning: boolean;
  readonly lastRunAtMs: number | null;
  readonly lastSuccessAtMs: number | null;
  /** Of the last run; null before the first. */
  readonly severity: Severity | null;
  /** Since when the severity holds. */
  readonly severitySinceMs: number | null;
  readonly lastReport: CheckReport | null;
  /** Of the last run that gave a result. */
  readonly lastResultReport: CheckReport | null;
}

/** A check of an organization with its live alerts. */
export interface CheckSnapshot {
  readonly state: CheckState;
  readonly alerts: readonly (AlertState & { readonly silenced: boolean })[];
  /** The last verdict is older than this: it is shown as after a failed run (three intervals, at least 2 min). */
  readonly staleAfterMs: number;
  /** How far apart the ticks of its schedule are, milliseconds; null where they are uneven. */
  readonly intervalMs: number | null;
  /** The tick after the one at which its next run is due: with neither run it has missed an interval. */
  readonly secondDueAtMs: number;
}

/** An alert that fired and has ended. */
export interface EndedAlert {
  readonly id: string;
  readonly kind: AlertState["kind"];
  /** The last it had. */
  readonly severity: AlertState["severity"];
  readonly startsAtMs: number;
  readonly endsAtMs: number;
  readonly reason: string;
  /** The one that holds; null: not judged. */
  readonly judgement: AlertJudgement | null;
  /** Of its deaths those whose asset is known, and of these those found alive again by now; null when unknown. */
  readonly deaths: { readonly judgedCount: number; readonly revivedCount: number } | null;
  /** Why it is now thought to have been the checker, whatever was thought while it fired; null: nothing new is known. */
  readonly revisedCause: string | null;
}

/** A live alert with what the configuration that holds now says of its organization. */
export interface AlertSnapshot {
  /** When a receiver first accepted a message about it; null: none did. */
  readonly notifiedAtMs: number | null;
  readonly state: AlertState;
  readonly silenced: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** Where a reader goes from here; null when there is nowhere. */
  readonly url: string | null;
}

/** An alert, live or ended, with all that people said of it. */
export interface AlertDetail extends AlertSnapshot {
  /** null while it lives. */
  readonly endsAtMs: number | null;
  /** Oldest first, what was withdrawn included. */
  readonly judgements: readonly JudgementEntry[];
  /** Its life as far as it is kept, oldest first. */
  readonly history: readonly AlertHistoryEntry[];
  /** Oldest first, those that came with acts included. */
  readonly comments: readonly AlertComment[];
  /** What a run found when it was at its worst, of one that is over; null: it lives, or nothing of it is kept. */
  readonly worstResult: StoredResult | null;
}

/** Everything that lives, and the fleet verdict while it lasts. */
export interface AlertsSnapshot {
  readonly alerts: readonly AlertSnapshot[];
  readonly fleet: FleetSnapshot | null;
}

/** The fleet verdict with what its members have in common. */
export interface FleetSnapshot extends FleetState {
  /** Until any receiver was sent it, it is forming. */
  readonly isSent: boolean;
  /** Organizations whose spike alert fires now. */
  readonly spiking: number;
  readonly evidence: FleetEvidence;
}

export interface AlertsPort {
  /** Firing before pending, then the oldest first. */
  list(): Promise<AlertsSnapshot>;
  /** The organization of one that lives, or ended and is kept; null: no such alert. */
  slugOf(id: string): Promise<string | null>;
  /** Those that live, or ended and are kept, whose id begins so, with their organizations: hexadecimal digits and hyphens only. */
  startingWith(prefix: string): Promise<readonly { readonly id: string; readonly slug: string }[]>;
  /** Quiet until resolved or worse. @throws FlatlineError not_found (no live alert), conflict (it does not fire yet) */
  acknowledge(id: string, author: Actor, comment: string | null, mayOpenGate: boolean): Promise<AlertSnapshot>;
  /** Takes an acknowledgement back. @throws FlatlineError not_found (no live alert), conflict (it is not acknowledged) */
  unacknowledge(id: string, author: Actor): Promise<AlertSnapshot>;
  /** Adds a comment. @throws FlatlineError not_found, conflict (it has too many) */
  comment(id: string, author: Actor, text: string): Promise<AlertComment>;
  /** Live, or ended and still kept; null: there is none. */
  find(id: string): Promise<AlertDetail | null>;
  /**
   * Says what it was; verdict null takes that back. @throws FlatlineError not_found, invalid_data, conflict (it is pending),
   * forbidden (it would open the gate)
   */
  judge(
    id: string,
    verdict: JudgementVerdict | null,
    said: { readonly author: Actor; readonly comment: string | null; readonly mayOpenGate: boolean },
  ): Promise<AlertDetail | null>;
}

/** An asset that died in an alert, by its last death there. */
export interface ListedAsset {
  readonly asset: string;
  /** null: its event named none. */
  readonly assetType: string | null;
  readonly deadAtMs: number;
  readonly attributes: Readonly<Record<string, string>>;
  /** When it was first found alive after that; null: not yet. */
  readonly revivedAtMs: number | null;
}

export interface AssetFilter {
  /** Without those that were found alive since. */
  readonly stillDead?: boolean;
  readonly assetType?: string;
}

/** Where the next page begins; deaths after `toMs` are not of this listing. */
export interface AssetCursor {
  readonly toMs: number;
  readonly after: EventPlace;
}

export interface AssetPage {
  readonly alertId: string;
  /** The deaths are those of (fromMs, toMs]. */
  readonly fromMs: number;
  readonly toMs: number;
  /** All deaths, and how many different assets of them are known; whatever the filters are. */
  readonly count: number;
  readonly knownCount: number;
  /** Newest first. */
  readonly assets: readonly ListedAsset[];
  /** null: that was all. */
  readonly next: AssetCursor | null;
}

/** The assets of one alert. */
export interface AlertAssets {
  readonly slug: string;
  /** @throws FlatlineError too_large, unavailable (not in time) */
  page(query: AssetFilter & { readonly limit: number; readonly cursor?: AssetCursor }): Promise<AssetPage>;
  /** All of them, with the names of their attributes; an act of `author`. @throws as page */
  all(
    filter: AssetFilter,
    author: Actor,
  ): Promise<{
    readonly attributes: readonly string[];
    readonly pieces: AsyncIterable<readonly ListedAsset[]>;
  }>;
}

export interface AlertAssetsPort {
  /** null: no such alert, or one that has no assets. */
  of(alertId: string): Promise<AlertAssets | null>;
}

export type NewMarker = Pick<Marker, "atMs" | "text" | "slug">;

export interface MarkersPort {
  /** Oldest first; of one organization those that are about all, too. */
  between(query: {
    readonly fromMs: number;
    readonly toMs: number;
    readonly slug?: string;
  }): Promise<readonly Marker[]>;
  add(marker: NewMarker, author: Actor): Promise<Marker>;
  /** False: no such marker. */
  remove(id: string, author: Actor): Promise<boolean>;
  byId(id: string): Promise<Pick<Marker, "slug"> | null>;
}

/** One release of the gate: by hand, or of the alert that held it. */
export interface ListedRelease {
  readonly atMs: number;
  readonly how: "released" | "judged" | "acknowledged" | "resolved";
  /** null: by hand. */
  readonly alertId: string | null;
  /** null: by the configuration, or without a name. */
  readonly by: string | null;
  readonly comment: string | null;
}

/** Whether a pipeline may act on an organization's deaths, and why. */
export interface GateView {
  readonly slug: string;
  readonly decision: "allow" | "hold";
  /** Named, so that a pipeline can distinguish them (alerting/decide/gate.ts). */
  readonly reason: string;
  /** The alert whose failure decided; null where none did. */
  readonly failure: { readonly alertId: string; readonly check: CheckName } | null;
  /** While it holds, since when. */
  readonly sinceMs: number | null;
  /** Deaths before it are not in question; null: none are. */
  readonly suspectFromMs: number | null;
  /** The reason in words. */
  readonly message: string;
  /** What opens it, in words, while it holds: "when judged or released"; else null. */
  readonly opens: string | null;
  /** The latest ones, newest first. */
  readonly releases: readonly ListedRelease[];
}

export interface GatePort {
  /**
   * null: no such organization is configured, and none that was once is on hold. @throws FlatlineError unavailable when the
   * store cannot be read
   */
  look(slug: string): Promise<GateView | null>;
  /** Every gate that is held by a failure, by slug. @throws FlatlineError as in `look` */
  held(): Promise<readonly GateView[]>;
  /**
   * Every gate that holds, by a failure or because nothing is known, worst first, and the slugs of those that are open.
   * @throws FlatlineError as in `look`
   */
  all(): Promise<{ readonly held: readonly GateView[]; readonly open: readonly string[] }>;
  /** Lets deaths be acted on again by hand, and records it. null: as in `look`. */
  release(slug: string, author: Actor, comment: string): Promise<GateView | null>;
}

export interface ChecksPort {
  list(): Promise<readonly CheckSnapshot[]>;
  get(check: CheckName, slug: string): Promise<CheckSnapshot | null>;
  /** Alerts of it that ended lately, newest first. */
  ended(check: CheckName, slug: string): Promise<readonly EndedAlert[]>;
  /** Runs it like a scheduled run. @throws FlatlineError not_found, conflict (runs elsewhere), unavailable (stopping) */
  runNow(check: CheckName, slug: string, author: Actor): Promise<CheckReport>;
}

export interface SilencesPort {
  /** Those of the configuration, then those made at run time that have not ended. */
  list(): Promise<readonly ListedSilence[]>;
  add(silence: NewSilence, author: Actor): Promise<ListedSilence>;
  /** Changes its end or comment. @throws FlatlineError not_found, conflict (it has ended), invalid_data */
  change(id: string, change: SilenceChange, author: Actor): Promise<ListedSilence>;
  /** Ends it now. False: no such silence, or it has ended. */
  expire(id: string, author: Actor): Promise<boolean>;
  /** The organization, or the pattern of them; null: no such silence. */
  slugOf(id: string): Promise<string | null>;
}

/** An organization that sends events and is not configured. */
export interface UnwatchedSlug {
  readonly slug: string;
  /** Stored ones, of any status. */
  readonly events: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
}

export interface UnwatchedPort {
  /** Their names alone, in order. */
  slugs(): Promise<readonly string[]>;
  list(): Promise<readonly UnwatchedSlug[]>;
}

/** How a body of events is written; both are streamed. */
export type EventsFormat = "ndjson" | "json-array";

export interface EventsPort {
  /**
   * Stores all events of the body, or none. Stops reading when `body` throws, and rejects with what it threw.
   * @throws FlatlineError invalid_data (issues name lines), conflict (the key was used for another body), store_busy
   */
  ingest(
    body: AsyncIterable<Uint8Array>,
    options: {
      readonly format: EventsFormat;
      readonly idempotencyKey: string | null;
      /** Who posts: the key counts for that one alone. */
      readonly author: string;
      /** The patterns of the slugs that the author may post of; null: all. */
      readonly organizations: readonly string[] | null;
      readonly signal: AbortSignal;
    },
  ): Promise<IngestOutcome>;
}

/** A receiver, without its address, which is a secret. */
export interface ReceiverView {
  readonly name: string;
  readonly type: string;
  readonly minSeverity: string;
  readonly sendResolved: boolean;
  readonly pending: number;
  readonly deadLetters: number;
  /** Until when it asked to be left alone (Retry-After); null: it did not. */
  readonly pausedUntilMs: number | null;
}

export interface OutboxPort {
  list(): Promise<readonly OutboxEntry[]>;
  receivers(): Promise<readonly ReceiverView[]>;
  /** Queues it again, due now. False: no such entry, or it is in flight. */
  retry(id: string, author: Actor): Promise<boolean>;
  /** Deletes it for good. False: no such entry, or it is in flight. */
  discard(id: string, author: Actor): Promise<boolean>;
  /** Sends a test to each recipient of a receiver now, and ends a pause that it asked for. null: no such receiver. */
  test(receiver: string, author: Actor): Promise<readonly TestedDelivery[] | null>;
}

/** What one recipient of a receiver answered to a test. */
export interface TestedDelivery {
  /** null: the receiver has no recipients. */
  readonly recipient: string | null;
  readonly outcome: "accepted" | "retry" | "rejected";
  readonly detail: string;
}

/** What people and programs did. */
export type AuditPort = Pick<AuditStore, "list">;

export interface ConfigurationPort {
  /** The effective configuration as JSON shows it, secrets as `***`. */
  show(): unknown;
}
