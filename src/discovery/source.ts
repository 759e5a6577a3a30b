import { FlatlineError, messageOf } from "../base/errors.ts";
import type { HttpDispatcher } from "../base/http-dispatcher.ts";
import { HttpFailure, sendRequest } from "../base/http.ts";
import { redact, type Secret } from "../base/secret.ts";
import { secondMs, type Clock } from "../base/time.ts";
import { lookBackMs } from "../config/check/relations.ts";
import type { Config, DiscoverConfig, OrganizationConfig } from "../config/config.ts";
import { readRegularFile } from "../config/document/files.ts";
import type { ListedOrganization } from "../contract/listed-organization.ts";
import { readList } from "./list.ts";

/** The list of an answer, with the answer's ETag. */
export interface SourceList {
  readonly organizations: readonly ListedOrganization[];
  readonly etag: string | null;
}

export interface SourceDeps {
  readonly dispatcher: HttpDispatcher;
  readonly clock: Clock;
  /** Version of flatline. */
  readonly version: string;
  readonly signal: AbortSignal;
  /** How long events are kept; 0: for ever. A list must not ask for a look further back, as the file must not. */
  readonly eventRetentionMs: number;
}

// Twenty thousand organizations with labels take some 4 MiB.
const mostMebibytes = 16;
const mostBytes = mostMebibytes * 1_024 * 1_024;
const timeoutMs = 30 * secondMs;

/**
 * Asks a source for its list (CONTRACT 14); null: it is that of the last answer, which had this ETag.
 * @throws FlatlineError whose message says why there is none, to follow the source's name, without its secrets
 */
export async function readSource(
  source: DiscoverConfig,
  etag: string | null,
  deps: SourceDeps,
): Promise<SourceList | null> {
  const { url, headers, file, maxOrganizations } = source;
  const answer = url === null ? await readFile(file ?? "") : await askUrl({ url, headers: headers ?? {} }, etag, deps);
  if (answer === null) return null;
  const organizations = readList(answer.text, maxOrganizations);
  const { eventRetentionMs } = deps;
  const tooFar = organizations.find((listed) => {
    if (eventRetentionMs === 0 || listed.thresholds === undefined) return false;
    const { thresholds, baseline } = discoveredOrganization(source, listed);
    return lookBackMs(thresholds, baseline) > eventRetentionMs;
  });
  if (tooFar === undefined) return { organizations, etag: answer.etag };
  const slug = JSON.stringify(tooFar.slug);
  throw failed(`the list has thresholds of ${slug} that look back further than storage.eventRetention`);
}

/** Returns where a list is read from and what bounds it: an earlier answer says nothing when that has changed. */
export function placeOf({ url, headers, file, maxOrganizations }: DiscoverConfig): string {
  const sent = Object.entries(headers ?? {}).map(([name, value]) => [name, value.reveal()]);
  return JSON.stringify([file ?? url?.reveal(), sent, maxOrganizations]);
}

interface Answer {
  readonly text: string;
  readonly etag: string | null;
}

async function readFile(path: string): Promise<Answer> {
  const content = await readRegularFile(path, mostBytes);
  if (content.kind === "unreadable") throw failed(`the file ${path} ${content.reason}`);
  return { text: content.bytes.toString("utf8"), etag: null };
}

async function askUrl(
  { url, headers }: { readonly url: Secret; readonly headers: Readonly<Record<string, Secret>> },
  etag: string | null,
  deps: SourceDeps,
): Promise<Answer | null> {
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.reveal()]));
  const deadline = deps.clock.deadline(timeoutMs, deps.signal);
  const request = {
    method: "GET",
    url: url.reveal(),
    headers: {
      accept: "application/json",
      "user-agent": `flatline/${deps.version}`,
      ...own,
      ...(etag === null ? {} : { "if-none-match": etag }),
    },
    signal: deadline.signal,
    maxBodyBytes: mostBytes,
  };
  try {
    const { status, body, isTruncated, headers: answered } = await sendRequest(deps.dispatcher, request);
    if (status === 304 && etag !== null) return null;
    if (status !== 200)
      throw failed(`it answered ${status}${status >= 300 && status < 400 ? "; redirects are not followed" : ""}`);
    if (isTruncated) throw failed(`its answer has more than ${mostMebibytes} MiB`);
    return { text: body, etag: answered["etag"] ?? null };
  } catch (error) {
    if (error instanceof HttpFailure && error.kind === "timeout")
      throw failed(`no complete answer within ${timeoutMs / secondMs} s`);
    throw failed(redact(messageOf(error), [url, ...Object.values(headers)]));
  } finally {
    deadline.release();
  }
}

function failed(reason: string): FlatlineError {
  return new FlatlineError("unavailable", reason);
}

/**
 * Returns the configuration with what its sources list: organizations of the file win over discovered ones, and of two sources the
 * first one (CONTRACT 14).
 */
export function withDiscovered(config: Config, lists: ReadonlyMap<string, readonly ListedOrganization[]>): Config {
  if (config.discover.length === 0) return config;
  const configured = config.organizations.filter(({ discoveredBy }) => discoveredBy === null);
  const organizations = new Map(configured.map((organization) => [organization.slug, organization]));
  for (const source of config.discover)
    for (const listed of lists.get(source.name) ?? [])
      if (!organizations.has(listed.slug)) organizations.set(listed.slug, discoveredOrganization(source, listed));
  return { ...config, organizations: [...organizations.values()] };
}

/** One organization of a source: what `defaults` says, and over it what the list may. */
function discoveredOrganization(
  { template }: Pick<DiscoverConfig, "template">,
  { labels, thresholds, ...listed }: ListedOrganization,
): OrganizationConfig {
  return {
    ...template,
    ...listed,
    thresholds: { ...template.thresholds, ...thresholds },
    labels: { ...template.labels, ...labels },
  };
}
