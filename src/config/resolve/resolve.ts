import { resolve } from "node:path";

import { Secret } from "../../base/secret.ts";
import { allRights, oneTokenName } from "../../contract/rights.ts";
import type { SilenceRule, Matcher } from "../../contract/silence.ts";
import type {
  Config,
  EmbeddedSourceConfig,
  RemoteSourceConfig,
  ServerTokenConfig,
  SourceConfig,
  DiscoverConfig,
  TableSourceConfig,
  ReceiverConfig,
} from "../config.ts";
import type { ConfigPlaces } from "../document/places.ts";
import { layered } from "../../base/layers.ts";
import { resolveOrganization, whereSet, type OrganizationResolution } from "./organization.ts";
import { builtinSettings } from "../schema/organization.ts";
import { parseInstant, parseListen } from "../../base/schema/values.ts";
import type { RootInput, SilenceInput } from "../schema/schema.ts";
import { sourceKinds } from "../schema/source-kinds.ts";
import type { SecretBook } from "./secrets.ts";
import type { DiscoverInput } from "../schema/discover.ts";
import type { TableSource } from "../../contract/table-source.ts";
import { receiverKind, type ReceiverOptions } from "../../receivers/receivers.ts";
import { parseRateLimit, type ReceiverInput } from "../schema/receiver.ts";

export interface ResolveInput {
  /** With the organizations of all files. */
  readonly data: RootInput;
  readonly places: ConfigPlaces;
  /** Absolute paths, the main one first. */
  readonly files: readonly string[];
  readonly secrets: SecretBook;
  /** $FLATLINE_LISTEN, checked. */
  readonly environmentListen: string | null;
}

/** Returns the frozen configuration of files that were found to be right: defaults filled in, merged, in milliseconds. */
export function resolveConfig({ data, places, files, secrets, environmentListen }: ResolveInput): Config {
  const receiverNames = data.receivers.map(({ name }) => name);
  const defaults = data.defaults ?? {};
  const defaultsSetAt = whereSet(places, ["defaults"]);
  const shared = { places, defaults, defaultsSetAt, receiverNames, secrets };
  const organizations = (data.organizations ?? []).map((organization, index) =>
    resolveOrganization({ ...shared, organization, path: ["organizations", index], discoveredBy: null }),
  );
  const discover = (data.discover ?? []).map((source, index) => resolveDiscover(source, index, shared));
  return deepFreeze<Config>({
    files: [...files, ...secrets.files],
    source: resolveSource(data, places, secrets),
    organizations,
    discover,
    defaults: {
      baseline: defaults.baseline ?? builtinSettings.baseline,
      gate: layered(builtinSettings.gate, defaults.gate),
    },
    alerting: {
      groupWaitMs: data.alerting.groupWait,
      groupIntervalMs: data.alerting.groupInterval,
      incidentWithinMs: data.alerting.incident.within,
      fleet: data.alerting.fleet === false ? null : data.alerting.fleet,
      sample: data.alerting.sample,
      externalUrl: data.alerting.externalUrl ?? null,
    },
    receivers: data.receivers.map((receiver, index) => resolveReceiver(receiver, index, secrets)),
    silences: data.silences.map(resolveSilence),
    appUrl: data.appUrl ?? null,
    server: {
      listen: listenOf(data.server.listen, environmentListen),
      token: secrets.of(["server"], "token")[0] ?? null,
      tokens: resolveTokens(data, secrets),
      trustedProxy: data.server.trustedProxy ?? null,
      publicRead: data.server.publicRead,
      sessionTtlMs: data.server.sessionTtl,
      linkSecret: secrets.of(["server"], "linkSecret")[0] ?? null,
      drainTimeoutMs: data.server.drainTimeout,
    },
    storage: {
      path: data.storage.path,
      url: secrets.of(["storage"], "url")[0] ?? null,
      poolSize: data.storage.poolSize,
      retentionMs: data.storage.retention,
      auditRetentionMs: data.storage.auditRetention,
      eventRetentionMs: data.storage.eventRetention,
    },
    heartbeat:
      data.heartbeat === undefined
        ? null
        : { url: secrets.one(["heartbeat"], "url"), intervalMs: data.heartbeat.interval },
    log: data.log,
  });
}

/** The one that may do everything, then those with a name. */
function resolveTokens({ server }: RootInput, secrets: SecretBook): ServerTokenConfig[] {
  const [one] = secrets.of(["server"], "token");
  const named = server.tokens.map(({ name, may, organizations }, index) => {
    const secret = secrets.one(["server", "tokens", index], "token");
    return { name, secret, rights: new Set(may), organizations: organizations ?? null };
  });
  return [
    ...(one === undefined ? [] : [{ name: oneTokenName, secret: one, rights: allRights, organizations: null }]),
    ...named,
  ];
}

/** Returns the HOST:PORT of a server: as it is written, else that of the environment, else the one that is built in. */
export function listenOf(written: string | undefined, environmentListen: string | null): string {
  return (written === undefined ? null : parseListen(written)) ?? environmentListen ?? "127.0.0.1:9640";
}

function resolveSource(data: RootInput, places: ConfigPlaces, secrets: SecretBook): SourceConfig {
  const { source } = data;
  const shared = { concurrency: source.concurrency, observedKeys: source.observedKeys };
  if (source.type === "embedded") {
    const folder = places.folderOf(["source"]);
    const preload: EmbeddedSourceConfig["preload"] = source.preload.map((entry) =>
      "events" in entry
        ? { kind: "events", path: resolve(folder, entry.events), rebase: entry.rebase }
        : { kind: "fixture", path: resolve(folder, entry.fixture) },
    );
    return { type: "embedded", ...sourceKinds.embedded, preload, ...shared };
  }
  if (source.type === "postgres" || source.type === "clickhouse") return resolveTableSource(source, secrets);
  const remote: RemoteSourceConfig = {
    type: "remote",
    ...sourceKinds.remote,
    baseUrl: source.baseUrl.replace(/\/+$/, ""),
    apiKey: secrets.of(["source"], "apiKey")[0] ?? null,
    timeoutMs: source.timeout,
    retries: source.retries,
    ...shared,
  };
  return remote;
}

function resolveSilence(silence: SilenceInput): SilenceRule {
  const base = { ...matcherOf(silence), comment: silence.comment ?? "" };
  if (silence.schedule !== undefined) {
    const length = silence.duration ?? 0;
    return {
      ...base,
      kind: "recurring",
      schedule: silence.schedule,
      durationMs: length,
      timezone: silence.timezone ?? "UTC",
    };
  }
  const [startsAtMs, endsAtMs] = [silence.startsAt, silence.endsAt].map((text) => parseInstant(text ?? "") ?? 0);
  return { ...base, kind: "fixed", startsAtMs: startsAtMs ?? 0, endsAtMs: endsAtMs ?? 0 };
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || value instanceof Secret) return value;
  for (const child of Object.values(value)) deepFreeze(child);
  return Object.freeze(value);
}

/** One discovery source, with what its organizations start from. */
function resolveDiscover(
  source: DiscoverInput,
  index: number,
  shared: Omit<OrganizationResolution, "organization" | "path" | "discoveredBy">,
): DiscoverConfig {
  const { name, file, organization, maxOrganizations } = source;
  const { places, secrets } = shared;
  const path = ["discover", index];
  const template = resolveOrganization({
    ...shared,
    organization: { ...organization, slug: "" },
    path: [...path, "organization"],
    discoveredBy: name,
  });
  return {
    name,
    location:
      file === undefined
        ? { kind: "url", url: secrets.one(path, "url"), headers: secrets.headersOf(path) }
        : { kind: "file", path: resolve(places.folderOf(path), file) },
    refreshIntervalMs: source.refreshInterval,
    maxOrganizations,
    template: { ...template, setAt: { ...template.setAt, "": places.lineOf(path) } },
  };
}

type TableSourceInput = Extract<RootInput["source"], { readonly type: "postgres" | "clickhouse" }>;

/** Returns a source that reads a table of the user's own, as it is effective; checked before. */
function resolveTableSource(source: TableSourceInput, secrets: SecretBook): TableSourceConfig {
  const url = secrets.one(["source"], "url");
  const shared = {
    ...sourceKinds[source.type],
    url,
    events: resolveEvents(source),
    timeUnit: source.timeUnit,
    timeoutMs: source.timeout,
    applicationName: source.applicationName,
    concurrency: source.concurrency,
    observedKeys: source.observedKeys,
  } as const;
  if (source.type === "postgres") return { type: "postgres", ...shared };
  return {
    type: "clickhouse",
    ...shared,
    username: source.username,
    password: secrets.of(["source"], "password")[0] ?? null,
    database: source.database,
  };
}

function resolveEvents({ query, table, columns, deadStatuses }: TableSourceInput): TableSource["events"] {
  if (query !== undefined) return { kind: "query", query };
  const { slug = "", at = "", assetType = null, status = null, count = null } = columns ?? {};
  return {
    kind: "table",
    table: table ?? "",
    columns: { slug, at, assetType, status, count },
    deadStatuses: deadStatuses ?? ["DETECTED_AS_DEAD"],
  };
}

/** One receiver with its secrets in place. */
function resolveReceiver(receiver: ReceiverInput, index: number, secrets: SecretBook): ReceiverConfig {
  const path = ["receivers", index];
  const all = (key: string): readonly Secret[] => secrets.of(path, key);
  const kind = receiverKind(receiver.type);
  const options = kind.resolve(receiver, {
    all,
    one: (key) => secrets.one(path, key),
    headers: () => secrets.headersOf(path),
  });
  const hasThreads = kind.hasThreads?.(options) ?? false;
  return {
    ...(options as ReceiverOptions),
    minSeverity: receiver.minSeverity,
    sendResolved: receiver.sendResolved,
    sendUnknown: receiver.sendUnknown ?? receiver.minSeverity === "warn",
    sendActs: receiver.sendActs ?? hasThreads,
    // Not by the default: what people discuss is no news to all who read the channel (CONTRACT 15).
    sendComments: hasThreads && receiver.sendActs === true,
    hasThreads,
    sample: receiver.sample,
    match: receiver.match === undefined ? null : matcherOf(receiver.match),
    timeoutMs: receiver.timeout,
    maxAgeMs: receiver.maxAge,
    rateLimit: receiver.rateLimit === undefined ? null : parseRateLimit(receiver.rateLimit),
  };
}

/** Returns the keys of a match or silence that are there. */
function matcherOf(match: {
  readonly slug?: string | undefined;
  readonly check?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}): Matcher {
  return {
    ...(match.slug === undefined ? {} : { slug: match.slug }),
    ...(match.check === undefined ? {} : { check: match.check }),
    ...(match.labels === undefined ? {} : { labels: match.labels }),
  };
}
