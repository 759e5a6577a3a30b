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
import { receiverShape, type ReceiverInput } from "../schema/receiver.ts";
import type { RootInput } from "../schema/schema.ts";
import { readSection } from "../schema/section.ts";
import { sourceKinds } from "../schema/source-kinds.ts";
import { below, resolveOrganization, settled } from "./organization.ts";
import type { SecretBook } from "./secrets.ts";

export interface ResolveInput {
  readonly data: RootInput;
  readonly document: ConfigDocument;
  readonly secrets: SecretBook;
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

/** Returns the frozen configuration of a file that was found to be right: with secrets, and what depends on several keys. */
export function resolveConfig({ data, document, secrets, environmentListen }: ResolveInput): Config {
  const { defaults: written, ...rest } = data;
  const defaults = written ?? {};
  const receiverNames = data.receivers.map(({ name }) => name);
  const hidden = document.fileValues.filter(({ path }) => !secrets.isSecret(path));
  const hiddenPaths = hidden.map(({ path }) => path);
  const shared = { defaults, receiverNames };
  const hiddenInDefaults = below(hiddenPaths, ["defaults"]);
  const { baseline, gate } = settled(defaults);
  const secret = (section: string, key: string): Secret | null => secrets.of([section], key)[0] ?? null;
  return deepFreeze<Config>({
    file: document.absolutePath,
    hidden: hiddenPaths,
    hiddenTexts: hiddenTextsOf(hidden),
    ...rest,
    source: resolveSource(data, document, secrets),
    organizations: (data.organizations ?? []).map((organization, index) =>
      resolveOrganization({
        ...shared,
        organization,
        apiKey: secrets.of(["organizations", index], "apiKey")[0] ?? null,
        hidden: [...below(hiddenPaths, ["organizations", index]), ...hiddenInDefaults],
        discoveredBy: null,
      }),
    ),
    discover: (data.discover ?? []).map((source, index) => ({
      ...resolveDiscover(source, index, { document, secrets }),
      template: resolveOrganization({
        ...shared,
        organization: "",
        apiKey: null,
        hidden: hiddenInDefaults,
        discoveredBy: source.name,
      }),
    })),
    defaults: { baseline, gate },
    isGateConfigured: [defaults, ...(data.organizations ?? [])].some(
      (settings) => typeof settings !== "string" && settings.gate !== undefined,
    ),
    receivers: data.receivers.map((receiver, index) => resolveReceiver(receiver, index, secrets)),
    server: {
      ...data.server,
      listen: listenOf(data.server.listen ?? undefined, environmentListen),
      token: secret("server", "token"),
      tokens: resolveTokens(data, secrets),
      linkSecret: secret("server", "linkSecret"),
    },
    storage: { ...data.storage, url: secret("storage", "url") },
    secondOpinion: resolveSecondOpinion(data, document, secrets),
    heartbeat: data.heartbeat === null ? null : { ...data.heartbeat, url: secrets.one(["heartbeat"], "url") },
  });
}

function resolveSecondOpinion(
  { secondOpinion }: RootInput,
  document: ConfigDocument,
  secrets: SecretBook,
): SecondOpinionConfig | null {
  if (secondOpinion === null) return null;
  const { verifier } = secondOpinion;
  const path = ["secondOpinion", "verifier"];
  return {
    ...secondOpinion,
    verifier: {
      ...verifier,
      url: secrets.of(path, "url")[0] ?? null,
      secret: secrets.of(path, "secret")[0] ?? null,
      file: verifier.file === null ? null : resolve(document.folder, verifier.file),
    },
  };
}

/** The one that may do everything, then those with a name. */
function resolveTokens({ server }: RootInput, secrets: SecretBook): ServerTokenConfig[] {
  const [one] = secrets.of(["server"], "token");
  const named = server.tokens.map(({ name, may, slugs }, index) => {
    const secret = secrets.one(["server", "tokens", index], "token");
    return { name, secret, rights: rightsOf(may), slugs };
  });
  return [
    ...(one === undefined ? [] : [{ name: oneTokenName, secret: one, rights: allRights, slugs: null }]),
    ...named,
  ];
}

/** Returns the HOST:PORT of a server: as it is written, else that of the environment, else the one that is built in. */
export function listenOf(written: string | undefined, environmentListen: string | null): string {
  return (written === undefined ? null : parseListen(written)) ?? environmentListen ?? "127.0.0.1:9640";
}

function resolveSource({ source }: RootInput, document: ConfigDocument, secrets: SecretBook): SourceConfig {
  if ("baseUrl" in source) {
    const baseUrl = source.baseUrl.replace(/\/+$/, "");
    return {
      ...source,
      type: "remote",
      ...sourceKinds.remote,
      baseUrl,
      apiKey: secrets.of(["source"], "apiKey")[0] ?? null,
    };
  }
  if (source.type === "embedded") {
    const { folder } = document;
    const preload = source.preload.map((entry) =>
      "events" in entry
        ? { ...entry, events: resolve(folder, entry.events) }
        : { fixture: resolve(folder, entry.fixture) },
    );
    return { ...source, ...sourceKinds.embedded, preload };
  }
  const { table, columns, deadStatuses, query, ...rest } = source;
  const read = { events: eventsOf({ table, columns, deadStatuses, query }), url: secrets.one(["source"], "url") };
  if (rest.type === "postgres") return { ...rest, ...sourceKinds.postgres, ...read };
  return { ...rest, ...sourceKinds.clickhouse, ...read, password: secrets.of(["source"], "password")[0] ?? null };
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
  { name, file, refreshIntervalMs, maxOrganizations }: DiscoverInput,
  index: number,
  { document, secrets }: Pick<ResolveInput, "document" | "secrets">,
): Omit<DiscoverConfig, "template"> {
  const path = ["discover", index];
  return {
    name,
    location:
      file === null
        ? { kind: "url", url: secrets.one(path, "url"), headers: secrets.headersOf(path) }
        : { kind: "file", path: resolve(document.folder, file) },
    refreshIntervalMs,
    maxOrganizations,
  };
}

/** Returns one receiver with its secrets in place. */
function resolveReceiver(receiver: ReceiverInput, index: number, secrets: SecretBook): ReceiverConfig {
  const path = ["receivers", index];
  const kind = receiverKind(receiver.type);
  const options = kind.resolve(receiver, {
    all: (key) => secrets.of(path, key),
    one: (key) => secrets.one(path, key),
    headers: () => secrets.headersOf(path),
  });
  const hasThreads = kind.hasThreads?.(options) ?? false;
  return {
    ...readSection(receiverShape, receiver),
    ...(options as ReceiverOptions),
    sendUnknown: receiver.sendUnknown ?? receiver.minSeverity === "warn",
    sendActs: receiver.sendActs ?? hasThreads,
    // The default sends no comments: a discussion is no news to everybody who reads the channel (CONTRACT 15).
    sendComments: hasThreads && receiver.sendActs === true,
    hasThreads,
    takesAcknowledgements: kind.takesAcknowledgements === true,
  };
}
