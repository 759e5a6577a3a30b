import type { SettingsOfChecks } from "../checks/checks.ts";
import type { Secret } from "../base/secret.ts";
import type { TableSource } from "../contract/table-source.ts";
import type { YamlPath } from "../base/yaml-text.ts";
import type { BuiltinSettings, Settings } from "./schema/organization.ts";
import type { ReceiverInput } from "./schema/receiver.ts";
import type { RootInput } from "./schema/schema.ts";
import type { sourceKinds, SourceType } from "./schema/source.ts";

/**
 * The validated configuration (CONTRACT 4), frozen. Its keys are those of the schema: durations in milliseconds, null for what is
 * absent and has no default, paths absolute. Here stands what is not as in the file.
 */
export interface Config extends Omit<RootInput, "source" | "defaults" | "organizations" | "discover" | "receivers"> {
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
  readonly defaults: BuiltinSettings;
  /** Whether `gate` is said anywhere. */
  readonly isGateConfigured: boolean;
  readonly receivers: readonly ReceiverConfig[];
  readonly server: ServerConfig;
}

type Written = RootInput["source"];
/** The keys of a source of this type, and what such a source can. */
export type SourceOf<Type extends SourceType> = Omit<Extract<Written, { readonly type: Type | null }>, "type"> &
  (typeof sourceKinds)[Type] & { readonly type: Type };
export type RemoteSourceConfig = SourceOf<"remote">;
/** Local evaluation over a table of the user's own. */
export type TableSourceConfig = (SourceOf<"postgres"> | SourceOf<"clickhouse">) & Pick<TableSource, "events">;
export type SourceConfig = RemoteSourceConfig | SourceOf<"embedded"> | TableSourceConfig;
/** Imported when the store is empty. */
export type PreloadConfig = SourceOf<"embedded">["preload"][number];

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

/** A list of organizations that another system keeps (CONTRACT 14): a `url` or a `file`. */
export type DiscoverConfig = NonNullable<RootInput["discover"]>[number] & {
  /** The settings of its organizations, those of `defaults`, before those of the list; the slug is empty. */
  readonly template: OrganizationConfig;
};

export type ReceiverConfig = ReceiverInput & {
  readonly sendUnknown: boolean;
  /** Whether it is notified of judgements and of a gate that opens. */
  readonly sendActs: boolean;
  /** Whether it is notified of comments, too. */
  readonly sendComments: boolean;
  /** Whether it shows an incident as a thread. */
  readonly hasThreads: boolean;
  /** Whether it is told that an incident is acknowledged. */
  readonly takesAcknowledgements: boolean;
};

/** `listen` is host:port, a host of IPv6 in brackets; the first of the tokens, `token`, is the one that commands send. */
export type ServerConfig = RootInput["server"] & { readonly listen: string };

export type HeartbeatConfig = NonNullable<RootInput["heartbeat"]>;
