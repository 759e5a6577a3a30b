import { resolve } from "node:path";

import { FlatlineError } from "../../base/errors.ts";
import { Secret } from "../../base/secret.ts";
import { allRights, oneTokenName, rightsOf } from "../../contract/rights.ts";
import type { TableSource } from "../../contract/table-source.ts";
import { parseListen } from "../../base/schema/values.ts";
import { receiverKind, type ReceiverOptions } from "../../receivers/receivers.ts";
import type {
  Config,
  DiscoverConfig,
  ReceiverConfig,
  SecondOpinionConfig,
  ServerTokenConfig,
  SourceConfig,
} from "../config.ts";
import type { ConfigDocument, FileValue } from "../document/document.ts";
import type { DiscoverInput } from "../schema/discover.ts";
import type { ReceiverInput } from "../schema/receiver.ts";
import type { RootInput } from "../schema/schema.ts";
import { sourceKinds } from "../schema/source-kinds.ts";
import { below, resolveOrganization, settled } from "./organization.ts";

export interface ResolveInput {
  readonly data: RootInput;
  readonly document: ConfigDocument;
  /** $FLATLINE_LISTEN, checked. */
  readonly environmentListen: string | null;
}

// A shorter text is hidden where it stands, and not in whatever else has these letters.
const leastHiddenLength = 8;

/** Returns the texts of files that nothing may show, but for short ones. */
export function hiddenTextsOf(values: readonly FileValue[]): Secret[] {
  const texts = new Set(values.flatMap(({ texts }) => texts));
  return [...texts].filter((text) => text.length >= leastHiddenLength).map((text) => new Secret(text));
}

/** Returns the frozen configuration of a file that was found to be right, with what depends on several keys. */
export function resolveConfig({ data, document, environmentListen }: ResolveInput): Config {
  const { defaults: written, organizations, ...rest } = data;
  const defaults = written ?? {};
  const receiverNames = data.receivers.map(({ name }) => name);
  const hidden = document.fileValues.map(({ path }) => path);
  const shared = { defaults, receiverNames };
  const hiddenInDefaults = below(hidden, ["defaults"]);
  const { baseline, gate } = settled(defaults);
  return deepFreeze<Config>({
    file: document.absolutePath,
    hidden,
    hiddenTexts: hiddenTextsOf(document.fileValues),
    ...rest,
    source: resolveSource(data, document),
    organizations: (organizations ?? []).map((organization, index) =>
      resolveOrganization({
        ...shared,
        organization,
        hidden: [...below(hidden, ["organizations", index]), ...hiddenInDefaults],
        discoveredBy: null,
      }),
    ),
    discover: (data.discover ?? []).map((source) => ({
      ...resolveDiscover(source, document),
      template: resolveOrganization({
        ...shared,
        organization: "",
        hidden: hiddenInDefaults,
        discoveredBy: source.name,
      }),
    })),
    defaults: { baseline, gate },
    isGateConfigured: [defaults, ...(organizations ?? [])].some(
      (settings) => typeof settings !== "string" && settings.gate !== undefined,
    ),
    receivers: data.receivers.map(resolveReceiver),
    server: {
      ...data.server,
      listen: listenOf(data.server.listen ?? undefined, environmentListen),
      tokens: resolveTokens(data),
    },
    secondOpinion: resolveSecondOpinion(data, document),
  });
}

function resolveSecondOpinion({ secondOpinion }: RootInput, { folder }: ConfigDocument): SecondOpinionConfig | null {
  if (secondOpinion === null) return null;
  const { verifier } = secondOpinion;
  return {
    ...secondOpinion,
    verifier: { ...verifier, file: verifier.file === null ? null : resolve(folder, verifier.file) },
  };
}

/** The one that may do everything, then those with a name. */
function resolveTokens({ server: { token, tokens } }: RootInput): ServerTokenConfig[] {
  const named = tokens.map(({ name, token: secret, may, slugs }) => ({ name, secret, rights: rightsOf(may), slugs }));
  return token === null ? named : [{ name: oneTokenName, secret: token, rights: allRights, slugs: null }, ...named];
}

/** Returns the HOST:PORT of a server: as it is written, else that of the environment, else the one that is built in. */
export function listenOf(written: string | undefined, environmentListen: string | null): string {
  return (written === undefined ? null : parseListen(written)) ?? environmentListen ?? "127.0.0.1:9640";
}

function resolveSource({ source }: RootInput, { folder }: ConfigDocument): SourceConfig {
  if ("baseUrl" in source)
    return { ...source, type: "remote", ...sourceKinds.remote, baseUrl: source.baseUrl.replace(/\/+$/, "") };
  if (source.type === "embedded") {
    const preload = source.preload.map((entry) =>
      "events" in entry
        ? { ...entry, events: resolve(folder, entry.events) }
        : { fixture: resolve(folder, entry.fixture) },
    );
    return { ...source, ...sourceKinds.embedded, preload };
  }
  const { table, columns, deadStatuses, query, ...rest } = source;
  const events = eventsOf({ table, columns, deadStatuses, query });
  return rest.type === "postgres"
    ? { ...rest, ...sourceKinds.postgres, events }
    : { ...rest, ...sourceKinds.clickhouse, events };
}

type TableSourceInput = Extract<RootInput["source"], { readonly type: "postgres" | "clickhouse" }>;

function eventsOf({
  query,
  table,
  columns,
  deadStatuses,
}: Pick<TableSourceInput, "query" | "table" | "columns" | "deadStatuses">): TableSource["events"] {
  if (query !== null) return { kind: "query", query };
  if (table === null || columns === null)
    throw new FlatlineError("internal", "a table without its columns was accepted");
  return { kind: "table", table, columns, deadStatuses: deadStatuses ?? ["DETECTED_AS_DEAD"] };
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || value instanceof Secret) return value;
  for (const child of Object.values(value)) deepFreeze(child);
  return Object.freeze(value);
}

/** Returns one discovery source, but for what its organizations are before the list says more. */
function resolveDiscover(
  { name, url, headers, file, refreshIntervalMs, maxOrganizations }: DiscoverInput,
  { folder }: ConfigDocument,
): Omit<DiscoverConfig, "template"> {
  if (url === null && file === null)
    throw new FlatlineError("internal", "a discovery source without a place was accepted");
  return {
    name,
    location:
      url === null ? { kind: "file", path: resolve(folder, file ?? "") } : { kind: "url", url, headers: headers ?? {} },
    refreshIntervalMs,
    maxOrganizations,
  };
}

/** Returns one receiver with what its type makes of its keys. */
function resolveReceiver(receiver: ReceiverInput): ReceiverConfig {
  const kind = receiverKind(receiver.type);
  const hasThreads = kind.hasThreads?.(receiver) ?? false;
  return {
    ...(receiver as ReceiverInput & ReceiverOptions),
    sendUnknown: receiver.sendUnknown ?? receiver.minSeverity === "warn",
    sendActs: receiver.sendActs ?? hasThreads,
    // The default sends no comments: a discussion is no news to everybody who reads the channel (CONTRACT 15).
    sendComments: hasThreads && receiver.sendActs === true,
    hasThreads,
    takesAcknowledgements: kind.takesAcknowledgements === true,
  };
}
