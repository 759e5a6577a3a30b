import type { HttpDispatcher } from "../base/http-dispatcher.ts";
import { HttpFailure, sendRequest } from "../base/http.ts";
import { redact } from "../base/secret.ts";
import { messageOf } from "../base/errors.ts";
import { secondMs, type Clock } from "../base/time.ts";
import type { DiscoverConfig } from "../config/config.ts";
import { readRegularFile } from "../config/document/files.ts";

/** The answer of a source; `failed` has the reason, which follows its name. */
export type SourceAnswer =
  | { readonly kind: "text"; readonly text: string; readonly etag: string | null }
  /** The list is that of the last answer, whose ETag was sent. */
  | { readonly kind: "unchanged" }
  | { readonly kind: "failed"; readonly reason: string };

export interface SourceReaderDeps {
  readonly dispatcher: HttpDispatcher;
  readonly clock: Clock;
  /** Version of flatline. */
  readonly version: string;
}

// Twenty thousand organizations with labels take some 4 MiB.
const mostMebibytes = 16;
const mostBytes = mostMebibytes * 1_024 * 1_024;
const timeoutMs = 30 * secondMs;

/** Asks a source for its list (CONTRACT 14); never rejects. `etag` is that of the last answer. */
export async function readSource(
  { location }: Pick<DiscoverConfig, "location">,
  etag: string | null,
  { dispatcher, clock, version, signal }: SourceReaderDeps & { readonly signal: AbortSignal },
): Promise<SourceAnswer> {
  if (location.kind === "file") {
    const content = await readRegularFile(location.path, mostBytes);
    if (content.kind === "unreadable") return failed(`the file ${location.path} ${content.reason}`);
    return { kind: "text", text: content.bytes.toString("utf8"), etag: null };
  }
  const { url, headers } = location;
  const secrets = [url, ...Object.values(headers)];
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.reveal()]));
  const deadline = clock.deadline(timeoutMs, signal);
  try {
    const { status, body, isTruncated, ...answer } = await sendRequest(dispatcher, {
      method: "GET",
      url: url.reveal(),
      headers: {
        accept: "application/json",
        "user-agent": `flatline/${version}`,
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
    return { kind: "text", text: body, etag: answer.headers["etag"] ?? null };
  } catch (error) {
    if (error instanceof HttpFailure && error.kind === "timeout")
      return failed(`no complete answer within ${timeoutMs / secondMs} s`);
    return failed(redact(messageOf(error), secrets));
  } finally {
    deadline.release();
  }
}

function failed(reason: string): SourceAnswer {
  return { kind: "failed", reason };
}
