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
 * The validated configuration (CONTRACT 4), frozen. Its keys are those of the schema: durations in milliseconds, null
 * for what is absent and has no default, paths absolute but for `storage.path`.
 */
export type Config = ReturnType<typeof resolveConfig>;
/** An organization with what `defaults` say, then what is built in. */
export type OrganizationConfig = Config["organizations"][number];
/** A list of organizations that another system keeps (CONTRACT 14): a `url` or a `file`. */
export type DiscoverConfig = Config["discover"][number];

type Written = RootInput["source"];
/** The keys of a source of this type, and what such a source can. */
type SourceOf<Type extends SourceType> = Omit<Extract<Written, { readonly type: Type | null }>, "type"> &
  (typeof sourceKinds)[Type] & { readonly type: Type };
export type RemoteSourceConfig = SourceOf<"remote">;
/** Local evaluation over a table of the user's own. */
export type TableSourceConfig = (SourceOf<"postgres"> | SourceOf<"clickhouse">) & Pick<TableSource, "events">;
export type SourceConfig = RemoteSourceConfig | SourceOf<"embedded"> | TableSourceConfig;

// A shorter text is hidden where it stands, and not in whatever else has these letters.
const leastHiddenLength = 8;

/** Returns the texts of files that nothing may show, but for short ones. */
export function hiddenTextsOf(values: readonly FileValue[]): Secret[] {
  const texts = new Set(values.flatMap(({ texts }) => texts));
  return [...texts].filter((text) => text.length >= leastHiddenLength).map((text) => new Secret(text));
}

/** Returns the frozen configuration of a file that was found to be right, with what depends on several keys. */
export function resolveConfig(data: RootInput, document: ConfigDocument, listen: string) {
  const { server, secondOpinion } = data;
  const defaults = data.defaults ?? {};
  const written = data.organizations ?? [];
  const receivers = data.receivers.map(resolveReceiver);
  const hidden = document.fileValues.map(({ path }) => path);
  const shared = below(hidden, ["defaults"]);
  const absolute = (path: string | null): string | null => (path === null ? null : resolve(document.folder, path));
  const organizationOf = (one: OrganizationInput, of: YamlPath, discoveredBy: string | null = null) => {
    return resolveOrganization(one, { defaults, receivers, hidden: [...below(hidden, of), ...shared], discoveredBy });
  };
  const one = { name: oneTokenName, rights: allRights, slugs: null };
  return deepFreeze({
    ...data,
    /** Absolute. */
    file: document.source.absolutePath,
    /** Where the text of a file (`${file:…}`) stands that is no secret by its key: paths in the file. Nobody is shown it. */
    hidden,
    /** These texts, but for short ones, which are words of other sentences, too. */
    hiddenTexts: hiddenTextsOf(document.fileValues),
    source: resolveSource(data, document),
    /** The settings of `defaults`, for organizations that the store has but the file does not name (any more). */
    defaults: settled(defaults) as BuiltinSettings,
    isGateConfigured: [defaults, ...written].some((one) => typeof one !== "string" && one.gate !== undefined),
    organizations: written.map((one, index) =>
      organizationOf(typeof one === "string" ? { slug: one } : one, ["organizations", index]),
    ),
    discover: (data.discover ?? []).map((source) => ({
      ...source,
      file: absolute(source.file),
      /** The settings of its organizations, those of `defaults`, before those of the list. */
      template: organizationOf({ slug: "" }, ["discover", source.name], source.name),
    })),
    receivers,
    server: {
      ...server,
      /** HOST:PORT, a host of IPv6 in brackets. */
      listen,
      /** The first, `token`, is the one that commands send. */
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

/** Returns where the deaths of a table's source are: in a table, or in what a query answers. */
function eventsOf({ query, table, columns, deadStatuses }: SourceOf<"postgres" | "clickhouse">) {
  if (query !== null) return { events: { kind: "query", query } as const };
  if (table === null || columns === null)
    throw new FlatlineError("internal", "a table without its columns was accepted");
  const statuses = deadStatuses ?? [deadStatus];
  const events = { kind: "table", table, columns, deadStatuses: statuses } as const;
  return { events, deadStatuses: columns.status === null ? null : statuses };
}

/** Returns one receiver with what its type makes of its keys. */
function resolveReceiver(receiver: RootInput["receivers"][number]) {
  const kind = receiverKind(receiver.type);
  const hasThreads = kind.hasThreads?.(receiver) ?? false;
  return {
    ...receiver,
    sendUnknown: receiver.sendUnknown ?? receiver.minSeverity === "warn",
    sendActs: receiver.sendActs ?? hasThreads,
    // The default sends no comments: a discussion is no news to everybody who reads the channel (CONTRACT 15).
    sendComments: hasThreads && receiver.sendActs === true,
    hasThreads,
    takesAcknowledgements: kind.takesAcknowledgements === true,
  };
}

function deepFreeze<Value>(value: Value): Lasting<Value> {
  if (typeof value === "object" && value !== null && !(value instanceof Secret)) {
    for (const child of Object.values(value)) deepFreeze(child);
    Object.freeze(value);
  }
  return value as Lasting<Value>;
}

/** Returns an organization with what `defaults` say, then what is built in, objects field by field. */
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
    /** All of them, at once; afterMs above 0 is an escalation of what was not acknowledged by then. */
    receivers: own.receivers ?? defaults.receivers ?? receivers.map(({ name }) => ({ name, afterMs: 0 })),
    /** Those that run; each field of their `alert` takes precedence over the organization's. */
    healthchecks: healthchecksOf(defaults, own),
    /** Overrides source.apiKey. */
    apiKey: own.apiKey ?? null,
    /** Paths of its settings whose text is of a file, below it or below `defaults`: nobody is shown them. */
    hidden,
    /** The discovery source that lists it; null: the file does. */
    discoveredBy,
  };
}

/** Returns the paths below another one, from there on; an organization that is a text is its slug. */
function below(paths: readonly YamlPath[], from: YamlPath): YamlPath[] {
  return paths
    .filter((path) => from.every((step, index) => path[index] === step))
    .map((path) => (path.length === from.length ? ["slug"] : path.slice(from.length)));
}

/** Returns those that run: of one path what the last layer says. */
function healthchecksOf(...layers: readonly Settings[]) {
  const byPath = new Map(layers.flatMap(({ healthchecks = [] }) => healthchecks.map((one) => [one.path, one])));
  return [...byPath.values()].filter(({ enabled }) => enabled !== false);
}

// A loop is cheaper here: each of ten thousand organizations is settled.
const builtIns = Object.entries(builtinSettings).map(([key, value]) => {
  const isNested = typeof value === "object" && !Array.isArray(value);
  // A check without a switch runs where its key is.
  const isOptional = checkSettings.some((one) => one.key === key && one.switchedBy === undefined);
  return { key: key as keyof BuiltinSettings, value, isNested, isOptional };
});

/** Returns the settings that have a built-in value: the last layer that has one wins, objects field by field. */
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
