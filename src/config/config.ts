import { resolve } from "node:path";

import { FlatlineError } from "../base/errors.ts";
import { layered } from "../base/layers.ts";
import type { Lasting } from "../base/schema/section.ts";
import { Secret } from "../base/secret.ts";
import { checkSettings, type SettingsOfChecks } from "../checks/checks.ts";
import { deadStatus } from "../contract/liveness-status.ts";
import { allRights, oneTokenName } from "../contract/rights.ts";
import type { TableSource } from "../contract/table-source.ts";
import { receiverKind } from "../receivers/receivers.ts";
import type { ConfigDocument, FileValue } from "./document/document.ts";
import type { YamlPath } from "../base/yaml-text.ts";
import { builtinSettings, type BuiltinSettings, type OrganizationInput, type Settings } from "./schema/organization.ts";
import type { RootInput } from "./schema/schema.ts";
import { defaultSourceType, sourceKinds, type SourceType } from "./schema/source.ts";

/**
 * The validated configuration (CONTRACT 4), frozen, with the keys of the schema. Durations are in milliseconds; null:
 * absent and without a default. Paths are absolute, except `storage.path`.
 */
export type Config = ReturnType<typeof resolveConfig>;
export type OrganizationConfig = Config["organizations"][number];
/** A list of organizations that another system keeps (CONTRACT 14): a `url` or a `file`. */
export type DiscoverConfig = Config["discover"][number];

type Written = RootInput["source"];
/** The keys of a source of this type, and its capabilities. */
type SourceOf<Type extends SourceType> = Omit<Extract<Written, { readonly type: Type | null }>, "type"> &
  (typeof sourceKinds)[Type] & { readonly type: Type };
export type RemoteSourceConfig = SourceOf<"remote">;
export type TableSourceConfig = (SourceOf<"postgres"> | SourceOf<"clickhouse">) & Pick<TableSource, "events">;
export type SourceConfig = RemoteSourceConfig | SourceOf<"embedded"> | TableSourceConfig;

// A shorter text is hidden only where it stands: other texts may contain it by chance.
const leastHiddenLength = 8;

/** Returns the texts of files that must not be shown, without short ones. */
export function hiddenTextsOf(values: readonly FileValue[]): Secret[] {
  const texts = new Set(values.flatMap(({ texts }) => texts));
  return [...texts].filter((text) => text.length >= leastHiddenLength).map((text) => new Secret(text));
}

/** Returns the frozen configuration of a valid file. */
export function resolveConfig(data: RootInput, document: ConfigDocument, listen: string) {
  const { server, secondOpinion } = data;
  const defaults = data.defaults ?? {};
  const written = data.organizations ?? [];
  const receivers = data.receivers.map(resolveReceiver);
  const hidden = document.fileValues.map(({ path }) => path);
  const shared = below(hidden, ["defaults"]);
  const absolute = (path: string | null): string | null => (path === null ? null : resolve(document.folder, path));
  const common = { defaults, receivers, discoveredBy: null };
  const one = { name: oneTokenName, rights: allRights, slugs: null };
  return deepFreeze({
    ...data,
    /** Absolute. */
    file: document.source.absolutePath,
    /** Paths of values with the text of a file (`${file:…}`), which is not shown. */
    hidden,
    /** These texts, without short ones. */
    hiddenTexts: hiddenTextsOf(document.fileValues),
    source: resolveSource(data, document),
    /** The settings of organizations that the store has and the file does not. */
    defaults: settled(defaults) as BuiltinSettings,
    isGateConfigured: [defaults, ...written].some((one) => typeof one !== "string" && one.gate !== undefined),
    organizations: written.map((one, index) =>
      resolveOrganization(typeof one === "string" ? { slug: one } : one, {
        ...common,
        hidden: [...below(hidden, ["organizations", index]), ...shared],
      }),
    ),
    discover: (data.discover ?? []).map((source) => ({
      ...source,
      file: absolute(source.file),
      /** The settings of its organizations before those of the list. */
      template: resolveOrganization({ slug: "" }, { ...common, hidden: shared, discoveredBy: source.name }),
    })),
    receivers,
    server: {
      ...server,
      /** HOST:PORT; an IPv6 host is in brackets. */
      listen,
      /** `server.token` is the first. */
      tokens: [...(server.token === null ? [] : [{ ...one, secret: server.token }]), ...server.tokens],
    },
    secondOpinion: secondOpinion && {
      ...secondOpinion,
      verifier: { ...secondOpinion.verifier, file: absolute(secondOpinion.verifier.file) },
    },
  });
}

function resolveSource({ source }: RootInput, { folder }: ConfigDocument): SourceConfig {
  const type = source.type ?? defaultSourceType;
  const known = { ...source, type, ...sourceKinds[type] } as SourceConfig;
  if ("timeUnit" in known) return { ...known, ...eventsOf(known) };
  if (known.type !== "embedded") return known;
  const preload = known.preload.map((entry) =>
    "events" in entry
      ? { ...entry, events: resolve(folder, entry.events) }
      : { fixture: resolve(folder, entry.fixture) },
  );
  return { ...known, preload };
}

/** Returns the origin of the deaths of a table's source: a table or a query. */
function eventsOf({ query, table, columns, deadStatuses }: SourceOf<"postgres" | "clickhouse">) {
  if (query !== null) return { events: { kind: "query", query } as const };
  if (table === null || columns === null)
    throw new FlatlineError("internal", "a table without its columns was accepted");
  const statuses = deadStatuses ?? [deadStatus];
  const events = { kind: "table", table, columns, deadStatuses: statuses } as const;
  return { events, deadStatuses: columns.status === null ? null : statuses };
}

/** Returns a receiver with the properties of its type. */
function resolveReceiver(receiver: RootInput["receivers"][number]) {
  const kind = receiverKind(receiver.type);
  const hasThreads = kind.hasThreads?.(receiver) ?? false;
  return {
    ...receiver,
    sendUnknown: receiver.sendUnknown ?? receiver.minSeverity === "warn",
    sendActs: receiver.sendActs ?? hasThreads,
    // The default sends no comments: a discussion is no news to all readers of a channel (CONTRACT 15).
    sendComments: hasThreads && receiver.sendActs === true,
    hasThreads,
    takesAcknowledgements: kind.takesAcknowledgements === true,
    ...(kind.recipients === undefined ? {} : { recipients: kind.recipients(receiver) }),
  };
}

function deepFreeze<Value>(value: Value): Lasting<Value> {
  if (typeof value === "object" && value !== null && !(value instanceof Secret)) {
    for (const child of Object.values(value)) deepFreeze(child);
    Object.freeze(value);
  }
  return value as Lasting<Value>;
}

/** Returns an organization merged with `defaults` and the built-in settings, objects field by field. */
export function resolveOrganization(
  own: OrganizationInput,
  {
    defaults,
    receivers,
    hidden,
    discoveredBy,
  }: {
    readonly defaults: Settings;
    readonly receivers: readonly { readonly name: string }[];
    readonly hidden: readonly YamlPath[];
    readonly discoveredBy: string | null;
  },
) {
  return {
    ...settled(defaults, own),
    slug: own.slug,
    /** [all, at once]; `afterMs` above 0 is an escalation. */
    receivers: own.receivers ?? defaults.receivers ?? receivers.map(({ name }) => ({ name, afterMs: 0 })),
    /** The fields of their `alert` override the organization's. */
    healthchecks: healthchecksOf(defaults, own),
    /** Overrides source.apiKey. */
    apiKey: own.apiKey ?? null,
    /** Paths of its settings with the text of a file, which is not shown. */
    hidden,
    /** The discovery source that lists it; null: the file. */
    discoveredBy,
  };
}

/** Returns the paths below `from`, relative to it; `from` itself is the slug of an organization that is a text. */
function below(paths: readonly YamlPath[], from: YamlPath): YamlPath[] {
  return paths
    .filter((path) => from.every((step, index) => path[index] === step))
    .map((path) => (path.length === from.length ? ["slug"] : path.slice(from.length)));
}

/** Returns the enabled healthchecks; the last layer with a path wins. */
function healthchecksOf(...layers: readonly Settings[]) {
  const byPath = new Map(layers.flatMap(({ healthchecks = [] }) => healthchecks.map((one) => [one.path, one])));
  return [...byPath.values()].filter(({ enabled }) => enabled !== false);
}

// Prepared once, because ten thousand organizations are settled.
const builtIns = Object.entries(builtinSettings).map(([key, value]) => {
  const isNested = typeof value === "object" && !Array.isArray(value);
  // A check without a switch is on when its key is there.
  const isOptional = checkSettings.some((one) => one.key === key && one.switchedBy === undefined);
  return { key: key as keyof BuiltinSettings, value, isNested, isOptional };
});

/** Merges the settings that have a built-in value: the last layer with a value wins, objects field by field. */
function settled(...layers: readonly Settings[]): Omit<BuiltinSettings, keyof SettingsOfChecks> & SettingsOfChecks {
  const settings: Record<string, unknown> = {};
  for (const { key, value, isNested, isOptional } of builtIns) {
    let said: unknown = null;
    for (const { [key]: own } of layers)
      if (own !== undefined) said = isNested ? layered(said ?? value, own as object) : own;
    settings[key] = said ?? (isOptional ? null : value);
  }
  return settings as unknown as ReturnType<typeof settled>;
}
