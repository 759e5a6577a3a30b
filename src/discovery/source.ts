import { messageOf } from "../base/errors.ts";
import type { HttpDispatcher } from "../base/http-dispatcher.ts";
import { HttpFailure, sendRequest } from "../base/http.ts";
import { redact } from "../base/secret.ts";
import { secondMs, type Clock } from "../base/time.ts";
import { lookBackMs } from "../config/check/relations.ts";
import type { Config, DiscoverConfig, OrganizationConfig } from "../config/config.ts";
import { readRegularFile } from "../config/document/files.ts";
import type { ListedOrganization } from "../contract/listed-organization.ts";
import { noList, readList } from "./list.ts";

/** The list of an answer, its slugs as one text, and the answer's ETag. */
export interface SourceList {
  readonly organizations: readonly ListedOrganization[];
  readonly slugs: string;
  readonly etag: string | null;
}

export interface SourceDeps {
  readonly dispatcher: HttpDispatcher;
  readonly clock: Clock;
  /** Version of flatline. */
  readonly version: string;
  readonly signal: AbortSignal;
}

// Twenty thousand organizations with labels take some 4 MiB.
const mostMebibytes = 16;
const mostBytes = mostMebibytes * 1_024 * 1_024;
const timeoutMs = 30 * secondMs;

/**
 * Asks a source for its list (CONTRACT 14); null: unchanged since the answer with this ETag. Its thresholds must not
 * look back further than events are kept (`eventRetentionMs`; 0: for ever), as in the file.
 * @throws noList without the source's secrets
 */
export async function readSource(
  source: DiscoverConfig,
  { etag, eventRetentionMs }: { readonly etag: string | null; readonly eventRetentionMs: number },
  deps: SourceDeps,
): Promise<SourceList | null> {
  const answer = source.url === null ? await readFile(source.file ?? "") : await askUrl(source, etag, deps);
  if (answer === null) return null;
  const organizations = readList(answer.text, source.maxOrganizations);
  const tooFar = organizations.find((listed) => {
    const { thresholds, baseline } = discoveredOrganization(source, listed);
    return listed.thresholds !== undefined && lookBackMs(thresholds, baseline) > (eventRetentionMs || Infinity);
  });
  if (tooFar !== undefined)
    throw noList(`the list has thresholds of "${tooFar.slug}" that look back further than storage.eventRetention`);
  return { organizations, slugs: organizations.map(({ slug }) => slug).join(" "), etag: answer.etag };
}

async function readFile(path: string) {
  const content = await readRegularFile(path, mostBytes);
  if (content.kind === "unreadable") throw noList(`the file ${path} ${content.reason}`);
  return { text: content.bytes.toString("utf8"), etag: null };
}

async function askUrl(
  { url, headers }: DiscoverConfig,
  etag: string | null,
  { dispatcher, clock, ...deps }: SourceDeps,
) {
  const own = Object.entries(headers ?? {});
  const deadline = clock.deadline(timeoutMs, deps.signal);
  try {
    const answer = await sendRequest(dispatcher, {
      method: "GET",
      url: url?.reveal() ?? "",
      headers: {
        accept: "application/json",
        "user-agent": `flatline/${deps.version}`,
        ...Object.fromEntries(own.map(([name, value]) => [name, value.reveal()])),
        ...(etag === null ? {} : { "if-none-match": etag }),
      },
      signal: deadline.signal,
      maxBodyBytes: mostBytes,
    });
    const { status } = answer;
    if (status === 304 && etag !== null) return null;
    if (status !== 200)
      throw noList(`it answered ${status}${status >= 300 && status < 400 ? "; redirects are not followed" : ""}`);
    if (answer.isTruncated) throw noList(`its answer has more than ${mostMebibytes} MiB`);
    return { text: answer.body, etag: answer.headers["etag"] ?? null };
  } catch (error) {
    if (error instanceof HttpFailure && error.kind === "timeout")
      throw noList(`no complete answer within ${timeoutMs / secondMs} s`);
    throw noList(redact(messageOf(error), [...(url === null ? [] : [url]), ...own.map(([, value]) => value)]));
  } finally {
    deadline.release();
  }
}

/**
 * Returns the configuration with what its sources list. Organizations of the file win over discovered ones, and an
 * earlier source wins over a later one (CONTRACT 14).
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

/** Returns an organization of a source: the values of the list over those of `defaults`. */
function discoveredOrganization(
  { template }: DiscoverConfig,
  { labels, thresholds, ...listed }: ListedOrganization,
): OrganizationConfig {
  return {
    ...template,
    ...listed,
    thresholds: { ...template.thresholds, ...thresholds },
    labels: { ...template.labels, ...labels },
  };
}
