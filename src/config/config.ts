import type { sourceKinds, SourceType } from "./schema/source-kinds.ts";
import type { SettingsOfChecks } from "../checks/checks.ts";
import type { Schedule } from "../checks/target.ts";
import type { ReceiverOptions } from "../receivers/receivers.ts";
import type { Secret } from "../base/secret.ts";
import type { Right } from "../contract/rights.ts";
import type { Matcher, SilenceRule } from "../contract/silence.ts";
import type { ClickhouseTableSource, PostgresTableSource } from "../contract/table-source.ts";
import type { BaselineKind } from "../spike/median.ts";
import type { SpikeThresholds } from "../spike/thresholds.ts";

/** The validated configuration (CONTRACT 4), frozen; durations are milliseconds, paths absolute or as written where noted. */
export interface Config {
  /** Every file that was read, the main one first, absolute. */
  readonly files: readonly string[];
  readonly source: SourceConfig;
  /** Effective organizations: each already merged with `defaults`. */
  readonly organizations: readonly OrganizationConfig[];
  /** Where more of them are listed; what they list is joined by discovery/fleet.ts. */
  readonly discover: readonly DiscoverConfig[];
  /** What `defaults` says, for organizations that the store has but the file does not, or no longer, name. */
  readonly defaults: { readonly baseline: BaselineKind; readonly gate: GateConfig };
  readonly alerting: AlertingConfig;
  readonly receivers: readonly ReceiverConfig[];
  readonly silences: readonly SilenceRule[];
  /** Template with `{slug}`. */
  readonly appUrl: string | null;
  readonly server: ServerConfig;
  readonly storage: StorageConfig;
  readonly heartbeat: HeartbeatConfig | null;
  readonly log: { readonly level: "debug" | "info" | "warn" | "error"; readonly format: "auto" | "json" | "pretty" };
}

export interface ObservedKeys {
  readonly currentCount: string;
  readonly baselineCount: string;
  readonly expectedCount: string;
  readonly ratio: string;
}

/** What a source of this kind can. */
type Kinds<Type extends SourceType> = (typeof sourceKinds)[Type];

interface SourceBase {
  readonly concurrency: number;
  readonly observedKeys: ObservedKeys;
}

export interface RemoteSourceConfig extends SourceBase, Kinds<"remote"> {
  readonly type: "remote";
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: Secret | null;
  readonly timeoutMs: number;
  readonly retries: number;
}

export type PreloadConfig =
  | { readonly kind: "events"; readonly path: string; readonly rebase: boolean }
  | { readonly kind: "fixture"; readonly path: string };

export interface EmbeddedSourceConfig extends SourceBase, Kinds<"embedded"> {
  readonly type: "embedded";
  /** Imported, in order, when the store is empty; absolute paths. */
  readonly preload: readonly PreloadConfig[];
}

export interface PostgresSourceConfig extends PostgresTableSource, SourceBase, Kinds<"postgres"> {
  readonly type: "postgres";
}
export interface ClickhouseSourceConfig extends ClickhouseTableSource, SourceBase, Kinds<"clickhouse"> {
  readonly type: "clickhouse";
}

/** Local evaluation over a table of the user's own. */
export type TableSourceConfig = PostgresSourceConfig | ClickhouseSourceConfig;

export type SourceConfig = RemoteSourceConfig | EmbeddedSourceConfig | TableSourceConfig;

export interface AlertConfig {
  readonly forMs: number;
  readonly keepFiringForMs: number;
  readonly unknownAfter: number;
  /** 0: never. */
  readonly repeatIntervalMs: number;
  /** 0–1 */
  readonly minBaselineCoverage: number;
}

/** A receiver that is notified at once (afterMs 0), or, as an escalation, of what was not acknowledged by then. */
export interface RoutedReceiverConfig {
  readonly name: string;
  readonly afterMs: number;
}

export interface GateConfig {
  readonly releaseOn: readonly ("judged" | "acknowledged" | "resolved")[];
  readonly whenUnknown: "allow" | "hold";
}

export interface OrganizationConfig extends SettingsOfChecks {
  readonly slug: string;
  readonly schedule: Schedule;
  readonly thresholds: SpikeThresholds;
  /** From what deaths are expected; median with local sources only. */
  readonly baseline: BaselineKind;
  /** How many days before the window say which attributes deaths usually have. */
  readonly attributionDays: number;
  /** judged: past spikes that are judged `checker` leave the baseline; local sources only. */
  readonly baselineExclude: "none" | "judged";
  /** The verdict on an organization of which no event was ever stored; the embedded source only. */
  readonly whenNoEvents: "unknown" | "ok";
  /** All of them, at once, by default. */
  readonly receivers: readonly RoutedReceiverConfig[];
  /** Whether notifications name dead assets of it. */
  readonly sample: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly alert: AlertConfig;
  readonly gate: GateConfig;
  /** Overrides source.apiKey. */
  readonly apiKey: Secret | null;
  /** The discovery source that lists it; null: a file of the configuration does. */
  readonly discoveredBy: string | null;
  /** Where it (""), and each thing that it or `defaults` sets, stands: path in YAML → "file:line"; for the page and `explain`. */
  readonly setAt: Readonly<Record<string, string>>;
}

/** A list of organizations that another system keeps (CONTRACT 14). */
export interface DiscoverConfig {
  readonly name: string;
  readonly location:
    | { readonly kind: "url"; readonly url: Secret; readonly headers: Readonly<Record<string, Secret>> }
    /** Absolute. */
    | { readonly kind: "file"; readonly path: string };
  readonly refreshIntervalMs: number;
  readonly maxOrganizations: number;
  /** What each of its organizations is before the list says more; the slug is empty. */
  readonly template: OrganizationConfig;
}

export interface AlertingConfig {
  readonly groupWaitMs: number;
  readonly groupIntervalMs: number;
  /** What fires within this after the first alert of an open incident of its family joins it. */
  readonly incidentWithinMs: number;
  readonly fleet: { readonly minOrganizations: number; readonly ratio: number | "auto" } | null;
  /** How many of the dead assets a notification names. */
  readonly sample: number;
  readonly externalUrl: string | null;
}

interface ReceiverBase {
  readonly minSeverity: "warn" | "fail";
  readonly sendResolved: boolean;
  readonly sendUnknown: boolean;
  /** Whether it is notified of judgements and of a gate that opens. */
  readonly sendActs: boolean;
  /** Whether it is notified of comments, too. */
  readonly sendComments: boolean;
  /** Whether it shows an incident as a thread. */
  readonly hasThreads: boolean;
  /** Whether its notifications name dead assets. */
  readonly sample: boolean;
  readonly match: Matcher | null;
  readonly timeoutMs: number;
  readonly maxAgeMs: number;
  readonly rateLimit: { readonly count: number; readonly perMs: number } | null;
}

export type ReceiverConfig = ReceiverBase & ReceiverOptions;

export interface ServerConfig {
  /** host:port; a host of IPv6 in brackets. */
  readonly listen: string;
  /** What commands show to the daemon. */
  readonly token: Secret | null;
  /** Who may ask, and for what; `token` is the first of them. */
  readonly tokens: readonly ServerTokenConfig[];
  readonly trustedProxy: TrustedProxyConfig | null;
  readonly publicRead: boolean;
  /** For so long a session lasts without use. */
  readonly sessionTtlMs: number;
  /** Signs the links of messages; null: they have none. */
  readonly linkSecret: Secret | null;
  readonly drainTimeoutMs: number;
}

/** A reverse proxy that says who asks. */
export interface TrustedProxyConfig {
  /** Addresses, and ranges of them. */
  readonly from: readonly string[];
  readonly userHeader: string;
  readonly groupsHeader: string;
  readonly may: Readonly<Record<string, readonly Right[]>>;
  readonly organizations: Readonly<Record<string, readonly string[]>>;
}

/** A token and what it is good for. */
export interface ServerTokenConfig {
  readonly name: string;
  readonly secret: Secret;
  readonly rights: ReadonlySet<Right>;
  /** Patterns of slugs; null: every organization. */
  readonly organizations: readonly string[] | null;
}

export interface StorageConfig {
  /** As written: relative to the working directory. Of no meaning with `url`. */
  readonly path: string;
  /** Address of a PostgreSQL; null: the store is a file. */
  readonly url: Secret | null;
  readonly poolSize: number;
  readonly retentionMs: number;
  /** How long the rows that say who did what are kept. */
  readonly auditRetentionMs: number;
  /** 0: keep all. */
  readonly eventRetentionMs: number;
}

export interface HeartbeatConfig {
  readonly url: Secret;
  readonly intervalMs: number;
}
