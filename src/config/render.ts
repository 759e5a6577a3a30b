import { Document, visit } from "yaml";

import { checkSettings } from "../checks/checks.ts";
import { receiverKind } from "../receivers/receivers.ts";
import { escapeUnseen } from "../base/unseen-text.ts";
import type { Matcher, SilenceRule } from "../contract/silence.ts";
import type {
  AlertConfig,
  Config,
  DiscoverConfig,
  OrganizationConfig,
  ReceiverConfig,
  ServerConfig,
  SourceConfig,
  TableSourceConfig,
} from "./config.ts";
import { oneTokenName } from "../contract/rights.ts";
import { formatDuration } from "../base/durations.ts";

/**
 * Returns the effective configuration under the names of the file, as plain data: everything that has a default is there, every
 * organization is merged, secrets are `***`. Without secrets it can be loaded again and means the same.
 */
export function describeConfig(config: Config): Record<string, unknown> {
  const { alerting, server, storage, heartbeat, log } = config;
  return plain({
    source: describeSource(config.source),
    defaults: config.defaults.baseline === "mean" ? null : config.defaults,
    // What is discovered is no part of the files: they mean the same without it.
    organizations: config.organizations.filter(({ discoveredBy }) => discoveredBy === null).map(describeOrganization),
    discover: config.discover.length === 0 ? null : config.discover.map(describeDiscover),
    alerting: {
      groupWait: formatDuration(alerting.groupWaitMs),
      groupInterval: formatDuration(alerting.groupIntervalMs),
      incident: { within: formatDuration(alerting.incidentWithinMs) },
      fleet: alerting.fleet ?? false,
      sample: alerting.sample,
      externalUrl: alerting.externalUrl,
    },
    receivers: config.receivers.map(describeReceiver),
    silences: config.silences.map(describeSilence),
    appUrl: config.appUrl,
    server: {
      listen: server.listen,
      token: server.token,
      tokens: describeTokens(server),
      trustedProxy: server.trustedProxy,
      publicRead: server.publicRead,
      sessionTtl: formatDuration(server.sessionTtlMs),
      linkSecret: server.linkSecret,
      drainTimeout: formatDuration(server.drainTimeoutMs),
    },
    storage: {
      ...(storage.url === null ? { path: storage.path } : { url: storage.url, poolSize: storage.poolSize }),
      retention: formatDuration(storage.retentionMs),
      auditRetention: formatDuration(storage.auditRetentionMs),
      eventRetention: formatDuration(storage.eventRetentionMs),
    },
    heartbeat: heartbeat === null ? null : { url: heartbeat.url, interval: formatDuration(heartbeat.intervalMs) },
    log,
  });
}

/** Returns the tokens that have a name; null when there are none. */
function describeTokens({ tokens }: ServerConfig): readonly object[] | null {
  const named = tokens.filter(({ name }) => name !== oneTokenName);
  if (named.length === 0) return null;
  return named.map(({ name, secret, rights, organizations }) => ({
    name,
    token: secret,
    may: [...rights],
    organizations,
  }));
}

/** {@link describeConfig} as YAML, in which dollars are doubled where they would not be read as themselves. */
export function renderConfig(config: Config): string {
  const doubled = plain(describeConfig(config), (text) =>
    text.replaceAll(/\$+\{|\${2,}/g, (dollars) => dollars.replaceAll("$", "$$$$")),
  );
  const document = new Document(doubled, { aliasDuplicateObjects: false });
  // Unseen characters can be written as escapes, between double quotes only.
  visit(document, {
    Scalar: (_key, node) => {
      if (typeof node.value === "string" && escapeUnseen(node.value) !== node.value) node.type = "QUOTE_DOUBLE";
    },
  });
  return escapeUnseen(document.toString({ lineWidth: 0 }));
}

/** JSON's view: Secret values become `***`, what is null is left out, as if it were not in the file. */
function plain(value: unknown, change: (text: string) => string = (text) => text): Record<string, unknown> {
  const text = JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member === "string") return change(member);
    return member === null ? undefined : member;
  });
  return JSON.parse(text) as Record<string, unknown>;
}

function describeSource(source: SourceConfig): object {
  const { concurrency, observedKeys } = source;
  if (source.type === "embedded") {
    const preload = source.preload.map((entry) =>
      entry.kind === "events" ? { events: entry.path, rebase: entry.rebase } : { fixture: entry.path },
    );
    return { type: source.type, preload, concurrency, observedKeys };
  }
  if (source.type === "postgres" || source.type === "clickhouse") return describeTableSource(source);
  return {
    type: source.type,
    baseUrl: source.baseUrl,
    apiKey: source.apiKey,
    timeout: formatDuration(source.timeoutMs),
    retries: source.retries,
    concurrency,
    observedKeys,
  };
}

function describeTableSource(source: TableSourceConfig): object {
  const { type, url, events, timeUnit, timeoutMs, applicationName, concurrency, observedKeys } = source;
  const isTable = events.kind === "table";
  return {
    type,
    url,
    ...(source.type === "clickhouse"
      ? { username: source.username, password: source.password, database: source.database }
      : {}),
    table: isTable ? events.table : null,
    columns: isTable ? events.columns : null,
    deadStatuses: isTable && events.columns.status !== null ? events.deadStatuses : null,
    query: isTable ? null : events.query,
    timeUnit,
    timeout: formatDuration(timeoutMs),
    applicationName,
    concurrency,
    observedKeys,
  };
}

/** Returns the effective settings of an organization under the names of the file; what is null has no default and is not set. */
export function describeOrganization(organization: OrganizationConfig): Readonly<Record<string, unknown>> {
  const {
    slug,
    schedule,
    thresholds,
    baseline,
    attributionDays,
    baselineExclude,
    whenNoEvents,
    sample,
    receivers,
    labels,
    alert,
    gate,
    apiKey,
  } = organization;
  const checks = checkSettings.flatMap((settings) => {
    const effective = organization[settings.key];
    return effective === null ? [] : [[settings.key, settings.describe(effective)] as const];
  });
  return {
    slug,
    apiKey,
    schedule: schedule.pattern,
    timezone: schedule.timezone,
    jitter: formatDuration(schedule.jitterMs),
    thresholds,
    baseline,
    attributionDays,
    baselineExclude,
    whenNoEvents,
    sample,
    receivers: receivers.map(({ name, afterMs }) => (afterMs === 0 ? name : { name, after: formatDuration(afterMs) })),
    labels,
    alert: describeAlert(alert),
    ...Object.fromEntries(checks),
    gate,
  };
}

function describeDiscover({ name, location, refreshIntervalMs, maxOrganizations, template }: DiscoverConfig): object {
  return {
    name,
    ...(location.kind === "file"
      ? { file: location.path }
      : { url: location.url, headers: Object.keys(location.headers).length === 0 ? null : location.headers }),
    refreshInterval: formatDuration(refreshIntervalMs),
    maxOrganizations,
    organization: { ...describeOrganization(template), slug: null },
  };
}

function describeAlert(alert: AlertConfig): object {
  return {
    for: formatDuration(alert.forMs),
    keepFiringFor: formatDuration(alert.keepFiringForMs),
    unknownAfter: alert.unknownAfter,
    repeatInterval: formatDuration(alert.repeatIntervalMs),
    minBaselineCoverage: alert.minBaselineCoverage,
  };
}

function describeReceiver(receiver: ReceiverConfig): object {
  const { name, type, minSeverity, sendResolved, sendUnknown, sendActs, sample, match, rateLimit } = receiver;
  const perUnit = { 1_000: "s", 60_000: "m", 3_600_000: "h" }[rateLimit?.perMs ?? 0];
  return {
    name,
    type,
    ...receiverKind(type).describe(receiver),
    minSeverity,
    sendResolved,
    sendUnknown,
    sendActs,
    sample,
    match: match === null ? null : describeMatcher(match),
    timeout: formatDuration(receiver.timeoutMs),
    maxAge: formatDuration(receiver.maxAgeMs),
    rateLimit: rateLimit === null ? null : `${rateLimit.count}/${perUnit ?? `${rateLimit.perMs}ms`}`,
  };
}

function describeSilence(silence: SilenceRule): object {
  const match = describeMatcher(silence);
  const { comment } = silence;
  if (silence.kind === "recurring") {
    const { schedule, timezone } = silence;
    return { ...match, schedule, duration: formatDuration(silence.durationMs), timezone, comment };
  }
  return {
    ...match,
    startsAt: new Date(silence.startsAtMs).toISOString(),
    endsAt: new Date(silence.endsAtMs).toISOString(),
    comment,
  };
}

function describeMatcher({ slug, check, labels }: Matcher): object {
  return { slug, check, labels };
}
