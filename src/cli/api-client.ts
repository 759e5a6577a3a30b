import type { z } from "zod";
import { FlatlineError, type ErrorCode } from "../base/errors.ts";
import type { HttpResponse } from "../base/http.ts";
import { Secret } from "../base/secret.ts";
import { parseJson, quoteIssues, quoteUpstream } from "../client/upstream-text.ts";
import { actor, userHeader } from "../contract/actor.ts";
import { readErrorBody } from "../contract/error-body.ts";
import type { ImportTarget } from "../store/events/import.ts";
import type { EventAuthor } from "../web/api/event-routes.ts";

/** The query of a route; undefined values are left out. */
type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface Exchange {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** It asks others first, or the answer is long. */
  readonly isSlow: boolean;
  readonly maxBodyBytes: number;
}

export interface ApiAccess {
  /** null: this process. */
  readonly url: string | null;
  /** `from` names its origin in messages; null: none is known. */
  readonly token: { readonly secret: Secret; readonly from: string } | null;
  readonly exchange: (request: Exchange) => Promise<HttpResponse>;
  /** null: an import sends its rows over HTTP. */
  readonly importTarget: ((author: EventAuthor) => ImportTarget | null) | null;
}

// A million assets of some hundred bytes.
const maxTextBytes = 512 * 1_024 * 1_024;
// Ten thousand alerts are some 10 MB.
const maxBodyBytes = 64 * 1_024 * 1_024;

/**
 * The HTTP API for a command of `user`. Rejects with unavailable without an answer, unauthorized or forbidden when the
 * token is wrong or missing, not_found and conflict as the API says, usage when the request is wrong.
 */
export type ApiClient = ReturnType<typeof createApiClient>;

export function createApiClient(access: ApiAccess, user: string) {
  const { url, token, exchange, importTarget } = access;
  const author = {
    [userHeader]: encodeURIComponent(user.toWellFormed()),
    ...(token === null ? {} : { authorization: `Bearer ${token.secret.reveal()}` }),
  };
  const ask = async <Schema extends z.ZodType>(
    { headers, ...request }: Omit<Exchange, "maxBodyBytes">,
    schema: Schema,
  ): Promise<z.infer<Schema>> => {
    const response = await exchange({ ...request, headers: { ...author, ...headers }, maxBodyBytes });
    const parsed = schema.safeParse(readAnswer(response, access));
    if (parsed.success) return parsed.data;
    throw unexpected(url, "an answer that this version does not know");
  };
  return {
    /** null: this process answers. */
    url,
    user,
    /** Takes the rows of an import without serialization; null: a daemon answers. */
    importTarget: importTarget?.({ actor: actor(user, "cli"), organizations: null }) ?? null,
    /** Reads JSON of this schema. */
    read: <Schema extends z.ZodType>(path: string, schema: Schema, query?: Query) =>
      ask({ method: "GET", path: withQuery(path, query), headers: {}, isSlow: false }, schema),
    /** Reads a long text. */
    readText: async (path: string, query?: Query): Promise<string> => {
      const request = { method: "GET", path: withQuery(path, query), headers: author, isSlow: true } as const;
      const response = await exchange({ ...request, maxBodyBytes: maxTextBytes });
      if (response.status === 200 && !response.isTruncated) return response.body;
      readAnswer(response, access);
      throw unexpected(url, "an answer that has no end");
    },
    /** Sends an act and reads the answer as JSON of this schema. */
    send: <Schema extends z.ZodType>(
      method: Exchange["method"],
      path: string,
      body: object | undefined,
      schema: Schema,
      { isSlow = false } = {},
    ) => {
      const json = { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
      return ask({ method, path, isSlow, ...(body === undefined ? { headers: {} } : json) }, schema);
    },
    /** Sends lines of JSON and reads the answer as JSON of this schema. */
    sendLines: <Schema extends z.ZodType>(path: string, body: string, schema: Schema) => {
      const headers = { "content-type": "application/x-ndjson" };
      return ask({ method: "POST", path, isSlow: true, headers, body }, schema);
    },
  };
}

/** Reads the pages of a list one by one. */
export async function* pagesOf<Schema extends z.ZodType<{ readonly cursor?: string | undefined }>>(
  api: ApiClient,
  path: string,
  schema: Schema,
  query: Query,
): AsyncGenerator<z.infer<Schema>> {
  let cursor: string | undefined;
  do {
    const page = await api.read(path, schema, { ...query, cursor });
    yield page;
    ({ cursor } = page);
  } while (cursor !== undefined);
}

function withQuery(path: string, query: Query = {}): string {
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    [values ?? []].flat().map((value): [string, string] => [name, String(value)]),
  );
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs).toString()}`;
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

/** Returns the body of a 2xx as JSON, undefined without one. @throws FlatlineError for every other status */
function readAnswer({ status, body, isTruncated }: HttpResponse, { url, token }: ApiAccess): unknown {
  const secret = token?.secret ?? new Secret("");
  const json = isTruncated || body === "" ? undefined : parseJson(body, secret);
  if (status >= 200 && status < 300) {
    if (status === 204 || json !== undefined) return json;
    throw unexpected(url, "an answer that is no JSON");
  }
  const said = readErrorBody(json);
  const code = refusals[status];
  if (said === null || code === undefined) throw unexpected(url, `HTTP ${status}`);
  if (token === null && (status === 401 || status === 403))
    throw new FlatlineError(
      code,
      "this needs a token: set server.token in the configuration and have the daemon reload it, " +
        "or name one with --token-file or $FLATLINE_TOKEN",
    );
  const hint = status === 401 ? `: ${token?.from} is not the one that the daemon runs with; has it been reloaded?` : "";
  const message = `${quoteUpstream(said.message, secret)}${hint}`;
  throw new FlatlineError(code, message, { issues: quoteIssues(said.issues, secret) });
}

function unexpected(url: string | null, what: string): FlatlineError {
  return new FlatlineError(
    "api_invalid_response",
    `${url ?? "this process"} does not answer as flatline does: ${what}`,
  );
}
