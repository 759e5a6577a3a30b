import { resolve } from "node:path";

import { FlatlineError } from "../base/errors.ts";
import { layered } from "../base/layers.ts";
import { Secret } from "../base/secret.ts";
import { checkSettings } from "../checks/checks.ts";
import { deadStatus } from "../contract/liveness-status.ts";
import { allRights, oneTokenName } from "../contract/rights.ts";
import { receiverKind } from "../receivers/receivers.ts";
import type { Config, OrganizationConfig, ReceiverConfig, SourceConfig, SourceOf } from "./config.ts";
import type { ConfigDocument, FileValue } from "./document/document.ts";
import type { YamlPath } from "../base/yaml-text.ts";
import { builtinSettings, type BuiltinSettings, type OrganizationInput, type Settings } from "./schema/organization.ts";
import type { RootInput } from "./schema/schema.ts";
import { defaultSourceType, sourceKinds } from "./schema/source.ts";

// A shorter text is hidden where it stands, and not in whatever else has these letters.
const leastHiddenLength = 8;

/** Returns the texts of files that nothing may show, but for short ones. */
export function hiddenTextsOf(values: readonly FileValue[]): Secret[] {
  const texts = new Set(values.flatMap(({ texts }) => texts));
  return [...texts].filter((text) => text.length >= leastHiddenLength).map((text) => new Secret(text));
}

/** Returns the frozen configuration of a file that was found to be right, with what depends on several keys. */
export function resolveConfig(data: RootInput, document: ConfigDocument, listen: string): Config {
  const { server, secondOpinion } = data;
  const defaults = data.defaults ?? {};
  const organizations = data.organizations ?? [];
  const hidden = document.fileValues.map(({ path }) => path);
  const hiddenInDefaults = below(hidden, ["defaults"]);
  const shared = { defaults, receiverNames: data.receivers.map(({ name }) => name) };
  const absolute = (path: string | null): string | null => (path === null ? null : resolve(document.folder, path));
  return deepFreeze<Config>({
    ...data,
    file: document.absolutePath,
    hidden,
    hiddenTexts: hiddenTextsOf(document.fileValues),
    source: resolveSource(data, document),
    defaults: settled(defaults),
    isGateConfigured: [defaults, ...organizations].some((one) => typeof one !== "string" && one.gate !== undefined),
    organizations: organizations.map((organization, index) =>
      resolveOrganization({
        ...shared,
        organization,
        hidden: [...below(hidden, ["organizations", index]), ...hiddenInDefaults],
        discoveredBy: null,
      }),
    ),
    discover: (data.discover ?? []).map((source) => ({
      ...source,
      file: absolute(source.file),
      template: resolveOrganization({
        ...shared,
        organization: "",
        hidden: hiddenInDefaults,
        discoveredBy: source.name,
      }),
    })),
    receivers: data.receivers.map(resolveReceiver),
    server: {
      ...server,
      listen,
      tokens: [
        ...(server.token === null
          ? []
          : [{ name: oneTokenName, secret: server.token, rights: allRights, slugs: null }]),
        ...server.tokens,
      ],
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
function resolveReceiver(receiver: RootInput["receivers"][number]): ReceiverConfig {
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

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || value instanceof Secret) return value;
  for (const child of Object.values(value)) deepFreeze(child);
  return Object.freeze(value);
}

export interface OrganizationResolution {
  readonly organization: OrganizationInput | string;
  /** The discovery source that it belongs to; null: none. */
  readonly discoveredBy: string | null;
  readonly defaults: Settings;
  /** Paths of what nobody is shown of it. */
  readonly hidden: readonly YamlPath[];
  readonly receiverNames: readonly string[];
}

/** Returns an organization with what `defaults` say, then what is built in, objects field by field. */
export function resolveOrganization(resolution: OrganizationResolution): OrganizationConfig {
  const { organization, discoveredBy, defaults, hidden, receiverNames } = resolution;
  const own: OrganizationInput = typeof organization === "string" ? { slug: organization } : organization;
  return {
    ...settled(defaults, own),
    slug: own.slug,
    receivers: own.receivers ?? defaults.receivers ?? receiverNames.map((name) => ({ name, afterMs: 0 })),
    healthchecks: healthchecksOf(defaults, own),
    apiKey: own.apiKey ?? null,
    hidden,
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
function healthchecksOf(...layers: readonly Settings[]): OrganizationConfig["healthchecks"] {
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
function settled(...layers: readonly Settings[]): BuiltinSettings {
  const settings: Record<string, unknown> = {};
  for (const { key, value, isNested, isOptional } of builtIns) {
    let said: unknown = null;
    for (const { [key]: own } of layers)
      if (own !== undefined) said = isNested ? layered(said ?? value, own as object) : own;
    settings[key] = said ?? (isOptional ? null : value);
  }
  return settings as unknown as BuiltinSettings;
}
