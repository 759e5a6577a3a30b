import type { SettingsOfChecks } from "../checks/checks.ts";
import type { Secret } from "../base/secret.ts";
import type { Right } from "../contract/rights.ts";
import type { ClickhouseTableSource, PostgresTableSource } from "../contract/table-source.ts";
import type { ReceiverOptions } from "../receivers/receivers.ts";
import type { DiscoverInput } from "./schema/discover.ts";
import type { YamlPath } from "./document/problems.ts";
import type { BuiltinSettings, Settings } from "./schema/organization.ts";
import type { ReceiverKeys } from "./schema/receiver.ts";
import type { RootInput } from "./schema/schema.ts";
import type { sourceKinds, SourceType } from "./schema/source-kinds.ts";

type Own = "secondOpinion" | "source" | "organizations" | "discover" | "receivers" | "server";

/**
 * The validated configuration (CONTRACT 4), frozen. Its keys are those of the schema: durations in milliseconds, null for what is
 * absent and has no default. Here stands what is not as in the file.
 */
export interface Config extends Omit<RootInput, Own> {
  /** The file, absolute. */
  readonly file: string;
  /** Where the text of a file (`${file:…}`) stands that is no secret by its key: paths in the file. Nobody is shown it. */
  readonly hidden: readonly YamlPath[];
  /** These texts, but for short ones, which are words of other sentences, too. */
  readonly hiddenTexts: readonly Secret[];
  readonly source: SourceConfig;
  /** Effective organizations: each already merged with `defaults`. */
  readonly organizations: readonly OrganizationConfig[];
  /** Where more of them are listed; what they list is joined by discovery/source.ts. */
  readonly discover: readonly DiscoverConfig[];
  /** The settings of `defaults`, for organizations that the store has but the file does not name (any more). */
  readonly defaults: Pick<OrganizationConfig, "baseline" | "gate">;
  /** Whether `gate` is said anywhere. */
  readonly isGateConfigured: boolean;
  readonly receivers: readonly ReceiverConfig[];
  readonly server: ServerConfig;
  readonly heartbeat: HeartbeatConfig | null;
  readonly secondOpinion: SecondOpinionConfig | null;
}

type Written = RootInput["source"];
/** What a source of this kind can. */
type Kinds<Type extends SourceType> = (typeof sourceKinds)[Type];
/** What every source has. */
type Shared = Pick<Written, "concurrency" | "observedKeys">;

export interface RemoteSourceConfig
  extends Omit<Extract<Written, { readonly baseUrl: string }>, "type">, Kinds<"remote"> {
  readonly type: "remote";
}
export interface EmbeddedSourceConfig extends Extract<Written, { readonly type: "embedded" }>, Kinds<"embedded"> {}
export interface PostgresSourceConfig extends PostgresTableSource, Shared, Kinds<"postgres"> {
  readonly type: "postgres";
}
export interface ClickhouseSourceConfig extends ClickhouseTableSource, Shared, Kinds<"clickhouse"> {
  readonly type: "clickhouse";
}
/** Local evaluation over a table of the user's own. */
export type TableSourceConfig = PostgresSourceConfig | ClickhouseSourceConfig;
export type SourceConfig = RemoteSourceConfig | EmbeddedSourceConfig | TableSourceConfig;
/** Imported when the store is empty; the path is absolute. */
export type PreloadConfig = EmbeddedSourceConfig["preload"][number];

export interface OrganizationConfig extends Omit<BuiltinSettings, keyof SettingsOfChecks>, SettingsOfChecks {
  readonly slug: string;
  /** Receivers [all of them, at once]; afterMs above 0 is an escalation of what was not acknowledged by then. */
  readonly receivers: NonNullable<Settings["receivers"]>;
  /** The healthchecks that run; each field of their `alert` takes precedence over the organization's. */
  readonly healthchecks: NonNullable<Settings["healthchecks"]>;
  /** Overrides source.apiKey. */
  readonly apiKey: Secret | null;
  /** Paths of its settings that {@link Config.hidden} names, below it or below `defaults`. */
  readonly hidden: readonly YamlPath[];
  /** The discovery source that lists it; null: a file of the configuration does. */
  readonly discoveredBy: string | null;
}

/** A list of organizations that another system keeps (CONTRACT 14). */
export interface DiscoverConfig extends Pick<DiscoverInput, "name" | "refreshIntervalMs" | "maxOrganizations"> {
  readonly location:
    | { readonly kind: "url"; readonly url: Secret; readonly headers: Readonly<Record<string, Secret>> }
    /** Absolute. */
    | { readonly kind: "file"; readonly path: string };
  /** The settings of its organizations, those of `defaults`, before those of the list; the slug is empty. */
  readonly template: OrganizationConfig;
}

interface ReceiverBase extends Omit<ReceiverKeys, "sendUnknown" | "sendActs"> {
  readonly sendUnknown: boolean;
  /** Whether it is notified of judgements and of a gate that opens. */
  readonly sendActs: boolean;
  /** Whether it is notified of comments, too. */
  readonly sendComments: boolean;
  /** Whether it shows an incident as a thread. */
  readonly hasThreads: boolean;
  /** Whether it is told that an incident is acknowledged. */
  readonly takesAcknowledgements: boolean;
}
export type ReceiverConfig = ReceiverBase & ReceiverOptions;

export interface ServerConfig extends Omit<RootInput["server"], "tokens"> {
  /** host:port; a host of IPv6 in brackets. */
  readonly listen: string;
  /** The tokens and their rights; the first one, `token`, is the one that commands send to the daemon. */
  readonly tokens: readonly ServerTokenConfig[];
}

/** A token and what it is good for. */
export interface ServerTokenConfig {
  readonly name: string;
  readonly secret: Secret;
  readonly rights: ReadonlySet<Right>;
  /** Patterns of the organizations whose events it may send; null: every organization. */
  readonly slugs: readonly string[] | null;
}

/** `path` is as written, relative to the working directory, and of no meaning with `url`; a retention of 0 keeps all. */
export type StorageConfig = RootInput["storage"];

export interface HeartbeatConfig extends NonNullable<RootInput["heartbeat"]> {
  readonly url: Secret;
}

/** Who gives a second opinion (CONTRACT 16); its `url` or its `file` is there. */
export type SecondOpinionConfig = NonNullable<RootInput["secondOpinion"]>;
