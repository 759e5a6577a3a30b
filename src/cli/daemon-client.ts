import { z } from "zod";
import { FlatlineError, type ErrorCode } from "../base/errors.ts";
import { createHttpDispatcher } from "../base/http-dispatcher.ts";
import { HttpFailure, sendRequest, type HttpResponse } from "../base/http.ts";
import { Secret } from "../base/secret.ts";
import { secondMs, type Clock } from "../base/time.ts";
import { parseJson, quoteIssues, quoteUpstream } from "../client/upstream-text.ts";
import { userHeader } from "../contract/actor.ts";
import { readErrorBody } from "../contract/error-body.ts";
import { isLoopback } from "./daemon-address.ts";

/**
 * The HTTP API of the running daemon. Rejects with unavailable without an answer, unauthorized or forbidden when the
 * token is wrong or missing, not_found and conflict as the API says, usage for what it finds wrong with a request.
 */
export interface DaemonClient {
  /** Reads a route that may be open to everybody, as JSON of this schema. */
  readPublic<Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.infer<Schema>>;
  /** Reads a route that needs the token, as JSON of this schema. */
  read<Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.infer<Schema>>;
  /** Reads a route that needs the token, as text of any length. */
  readText(path: string): Promise<string>;
  /**
   * Sends an act with its body, of which undefined fields are left out, and reads the answer as JSON of this schema. `isSlow`: the
   * daemon asks others first.
   */
  send<Schema extends z.ZodType>(
    method: "POST" | "PATCH" | "DELETE",
    path: string,
    body: object | undefined,
    schema: Schema,
    isSlow?: boolean,
  ): Promise<z.infer<Schema>>;
}

export interface DaemonDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** The operating system's user, who is in the audit beside the token. */
  userName(): string;
  /** Ends a request early. */
  readonly signal: AbortSignal;
}

// The daemon answers from its store in milliseconds; a store that is being imported into may take seconds.
const timeoutMs = 10 * secondMs;
// A million assets, each of some hundred bytes, that are read from the events first.
const maxTextBytes = 512 * 1_024 * 1_024;
// Beyond the default timeout of a receiver with some fifty recipients.
const slowTimeoutMs = 120 * secondMs;
// Ten thousand organizations in alert are some 10 MB.
const maxBodyBytes = 64 * 1_024 * 1_024;

/** How the running daemon is reached: all that a client of it needs to know. */
export interface DaemonAccess {
  /** Without a trailing slash. */
  readonly url: string;
  /** What says the address, for messages. */
  readonly urlFrom: string;
  /** null: none is known. */
  readonly token: Secret | null;
  /** What says the token, for messages; without one, what to do to have one. */
  readonly tokenFrom: string;
}

/** Lets `work` talk to the daemon that is reached so (CONTRACT 8). */
export async function withDaemon<Result>(
  access: DaemonAccess,
  deps: DaemonDeps,
  work: (daemon: DaemonClient) => Promise<Result>,
): Promise<Result> {
  const { url, urlFrom, token } = access;
  // Never through a proxy when it is this machine.
  const dispatcher = createHttpDispatcher({ env: isLoopback(url) ? {} : deps.env });
  try {
    const send: Send = async (method, path, body, { isText = false, isSlow = isText } = {}) => {
      const request = {
        method,
        url: `${url}${path}`,
        headers: {
          accept: isText ? "*/*" : "application/json",
          [userHeader]: encodeURIComponent(deps.userName().toWellFormed()),
          ...(token === null ? {} : { authorization: `Bearer ${token.reveal()}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: deps.clock.timeout(isSlow ? slowTimeoutMs : timeoutMs, deps.signal),
        maxBodyBytes: isText ? maxTextBytes : maxBodyBytes,
      };
      try {
        const response = await sendRequest(dispatcher, request);
        const isWhole = isText && response.status === 200 && !response.isTruncated;
        return isWhole ? response.body : readAnswer(response, access);
      } catch (error) {
        if (!(error instanceof HttpFailure)) throw error;
        const message = `no flatline answers at ${url}: ${error.message}. Is it running? (${urlFrom})`;
        throw new FlatlineError("unavailable", message, { cause: error });
      }
    };
    return await work(createClient(send, access));
  } finally {
    await dispatcher.destroy();
  }
}

type Send = (
  method: "GET" | "POST" | "PATCH" | "DELETE",
  path: string,
  body?: object,
  answer?: { readonly isText?: boolean; readonly isSlow?: boolean },
) => Promise<unknown>;

function createClient(send: Send, access: DaemonAccess): DaemonClient {
  /** What only who has the token may do: without one there is nothing to try. */
  function guarded(): void {
    if (access.token === null) throw new FlatlineError("forbidden", `this needs a token: ${access.tokenFrom}`);
  }
  function read<Schema extends z.ZodType>(schema: Schema, answer: unknown): z.infer<Schema> {
    const parsed = schema.safeParse(answer);
    if (parsed.success) return parsed.data;
    throw unexpected(access.url, "an answer that this version does not know");
  }
  return {
    readPublic: async (path, schema) => read(schema, await send("GET", path)),
    read: async (path, schema) => {
      guarded();
      return read(schema, await send("GET", path));
    },
    send: async (method, path, body, schema, isSlow = false) => {
      guarded();
      return read(schema, await send(method, path, body, { isSlow }));
    },
    readText: async (path) => {
      guarded();
      return read(z.string(), await send("GET", path, undefined, { isText: true }));
    },
  };
}

/** Takes a "not found" for null: a check that is switched off, or what another kind of alert has not. */
export function ifMissing(error: unknown): null {
  if (error instanceof FlatlineError && error.code === "not_found") return null;
  throw error;
}

const refusals: Readonly<Record<number, ErrorCode>> = {
  400: "usage",
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  409: "conflict",
  413: "usage",
  421: "usage",
  429: "too_many",
  503: "unavailable",
};

/** The body of a 2xx as JSON, undefined when it has none. @throws FlatlineError for every other status */
function readAnswer({ status, body, isTruncated }: HttpResponse, access: DaemonAccess): unknown {
  const { url, token } = access;
  const secret = token ?? new Secret("");
  const json = isTruncated || body === "" ? undefined : parseJson(body, secret);
  if (status >= 200 && status < 300) {
    if (status === 204 || json !== undefined) return json;
    throw unexpected(url, "an answer that is no JSON");
  }
  const said = readErrorBody(json);
  const code = refusals[status];
  if (said === null || code === undefined) throw unexpected(url, `HTTP ${status}`);
  const message = quoteUpstream(said.message, secret);
  throw new FlatlineError(code, `${message}${status === 401 ? refusalHint(access) : ""}`, {
    issues: quoteIssues(said.issues, secret),
  });
}

function refusalHint({ token, tokenFrom }: DaemonAccess): string {
  return token === null
    ? `: the daemon asks for one; ${tokenFrom}`
    : `: ${tokenFrom} is not the one that the daemon runs with; has it been reloaded?`;
}

function unexpected(url: string, what: string): FlatlineError {
  return new FlatlineError("api_invalid_response", `${url} does not answer as flatline does: ${what}`);
}
