import { messageOf } from "../base/errors.ts";
import type { HttpDispatcher } from "../base/http-dispatcher.ts";
import { HttpFailure, sendRequest } from "../base/http.ts";
import { redact } from "../base/secret.ts";
import { secondMs, type Clock } from "../base/time.ts";
import { lookBackMs } from "../config/check/relations.ts";
import type { DiscoverConfig } from "../config/config.ts";
import { readRegularFile } from "../config/document/files.ts";
import type { ListedOrganization } from "../contract/listed-organization.ts";
import { discoveredOrganization } from "./fleet.ts";
import { readList } from "./list.ts";

/** The answer of a source; `failed` has the reason, which follows its name. */
export type SourceAnswer =
  | { readonly kind: "list"; readonly organizations: readonly ListedOrganization[]; readonly etag: string | null }
  /** The list is that of the last answer, whose ETag was sent. */
  | { readonly kind: "unchanged" }
  | { readonly kind: "failed"; readonly reason: string };

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

/** Asks a source for its list (CONTRACT 14); never rejects. `etag` is that of the last answer. */
export async function readSource(source: DiscoverConfig, etag: string | null, deps: SourceDeps): Promise<SourceAnswer> {
  const { location } = source;
  if (location.kind === "url") return askUrl(source, location, etag, deps);
  const content = await readRegularFile(location.path, mostBytes);
  if (content.kind === "unreadable") return failed(`the file ${location.path} ${content.reason}`);
  return readText(source, content.bytes.toString("utf8"), null, deps);
}

/** Returns where a list is read from and what bounds it: an earlier answer says nothing when that has changed. */
export function placeOf({ location, maxOrganizations }: DiscoverConfig): string {
  if (location.kind === "file") return JSON.stringify([location.path, maxOrganizations]);
  const headers = Object.entries(location.headers).map(([name, value]) => [name, value.reveal()]);
  return JSON.stringify([location.url.reveal(), headers, maxOrganizations]);
}

async function askUrl(
  source: DiscoverConfig,
  { url, headers }: Extract<DiscoverConfig["location"], { readonly kind: "url" }>,
  etag: string | null,
  deps: SourceDeps,
): Promise<SourceAnswer> {
  const secrets = [url, ...Object.values(headers)];
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.reveal()]));
  const deadline = deps.clock.deadline(timeoutMs, deps.signal);
  try {
    const { status, body, isTruncated, ...answer } = await sendRequest(deps.dispatcher, {
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
    });
    if (status === 304 && etag !== null) return { kind: "unchanged" };
    if (status >= 300 && status < 400) return failed(`it answered ${status}; redirects are not followed`);
    if (status !== 200) return failed(`it answered ${status}`);
    if (isTruncated) return failed(`its answer has more than ${mostMebibytes} MiB`);
    return readText(source, body, answer.headers["etag"] ?? null, deps);
  } catch (error) {
    if (error instanceof HttpFailure && error.kind === "timeout")
      return failed(`no complete answer within ${timeoutMs / secondMs} s`);
    return failed(redact(messageOf(error), secrets));
  } finally {
    deadline.release();
  }
}

function readText(
  source: DiscoverConfig,
  text: string,
  etag: string | null,
  { eventRetentionMs }: SourceDeps,
): SourceAnswer {
  const read = readList(text, source);
  if (read.kind === "refused") return failed(`the list ${read.reason}`);
  const tooFar = read.organizations.find((listed) => {
    if (eventRetentionMs === 0 || listed.thresholds === undefined) return false;
    const { thresholds, baseline } = discoveredOrganization(source, listed);
    return lookBackMs(thresholds, baseline) > eventRetentionMs;
  });
  if (tooFar === undefined) return { kind: "list", organizations: read.organizations, etag };
  const slug = JSON.stringify(tooFar.slug);
  return failed(`the list has thresholds of ${slug} that look back further than storage.eventRetention`);
}

function failed(reason: string): SourceAnswer {
  return { kind: "failed", reason };
}
