import { z } from "zod";
import { FlatlineError, type ErrorCode } from "../base/errors.ts";
import { createHttpDispatcher } from "../base/http-dispatcher.ts";
import { HttpFailure, sendRequest, type HttpResponse } from "../base/http.ts";
import { Secret } from "../base/secret.ts";
import { secondMs, type Clock } from "../base/time.ts";
import { parseJson, quoteIssues, quoteUpstream } from "../client/upstream-text.ts";
import { userHeader } from "../contract/actor.ts";
import { readErrorBody } from "../contract/error-body.ts";
import type { JudgementVerdict } from "../contract/judgement.ts";
import type { CheckName } from "../contract/report.ts";
import {
  alertDetailSchema,
  alertListSchema,
  alertSchema,
  foundAlertsSchema,
  type AlertDetailAnswer,
  type EndedAlertAnswer,
  type LiveAlert,
  type LiveAlerts,
} from "../contract/v1/alerts.ts";
import { checkDetailSchema, checkListSchema } from "../contract/v1/checks.ts";
import { gateListSchema, gateSchema, type Gate, type GateList } from "../contract/v1/gate.ts";
import { markerSchema, type ListedMarker } from "../contract/v1/markers.ts";
import { placeListSchema } from "../contract/v1/places.ts";
import { silenceSchema, type Silence } from "../contract/v1/silences.ts";
import { statusSchema, type DaemonStatus } from "../contract/v1/status.ts";
import { isLoopback } from "./daemon-address.ts";

/** An alert that ended, and the check that it is of. */
export type EndedAlertRow = EndedAlertAnswer & { readonly check: CheckName };

/** A marker to be made; an absent time is now, an absent slug means all organizations. */
export interface MarkerRequest {
  readonly text: string;
  readonly atMs?: number;
  readonly slug?: string;
  readonly createdBy?: string;
}

/** A silence to be made; times are epoch ms, an absent start is now. */
export interface SilenceRequest {
  readonly slug: string;
  readonly check?: string;
  readonly startsAtMs?: number;
  readonly endsAtMs: number;
  readonly comment: string;
  readonly createdBy?: string;
}

/**
 * The HTTP API of the running daemon. Rejects with unavailable without an answer, unauthorized or forbidden when the
 * token is wrong or missing, not_found and conflict as the API says, usage for what it finds wrong with a request.
 */
export interface DaemonClient {
  /** Reads a route that needs the token, as JSON of this schema. */
  read<Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.infer<Schema>>;
  /** Sends an act with its body, and reads the answer as JSON of this schema. */
  send<Schema extends z.ZodType>(
    method: "POST" | "DELETE",
    path: string,
    body: object,
    schema: Schema,
  ): Promise<z.infer<Schema>>;
  /** Reads a route that needs the token, as text of any length. */
  readText(path: string): Promise<string>;
  status(): Promise<DaemonStatus>;
  alerts(): Promise<LiveAlerts>;
  /** Those that live, or ended and are kept, whose id begins so. */
  alertsStarting(prefix: string): Promise<readonly AlertDetailAnswer[]>;
  /** Returns those of one organization over all its checks, newest first. */
  endedAlerts(slug: string): Promise<readonly EndedAlertRow[]>;
  acknowledge(id: string, by: string | null, comment: string | null): Promise<LiveAlert>;
  /** Takes an acknowledgement back. */
  unacknowledge(id: string): Promise<LiveAlert>;
  /** Adds a comment to an alert. */
  comment(id: string, by: string | null, text: string): Promise<void>;
  /** Says what an alert was; verdict null takes that back. */
  judge(
    id: string,
    verdict: JudgementVerdict | null,
    said: { readonly by: string | null; readonly comment: string | null },
  ): Promise<AlertDetailAnswer>;
  gate(slug: string): Promise<Gate>;
  /** Those that hold, worst first, and how many others are open. */
  gates(): Promise<GateList>;
  releaseGate(slug: string, by: string | null, comment: string): Promise<Gate>;
  /** The organizations that it checks, as far as the token may see them. */
  slugs(): Promise<readonly string[]>;
  silences(): Promise<readonly Silence[]>;
  addSilence(silence: SilenceRequest): Promise<Silence>;
  /** Changes the end of a silence, its comment or both. */
  changeSilence(id: string, change: { readonly endsAtMs?: number; readonly comment?: string }): Promise<Silence>;
  expireSilence(id: string): Promise<void>;
  /** Returns those of the last 30 days, or since `fromMs`. */
  markers(fromMs: number | null): Promise<readonly ListedMarker[]>;
  addMarker(marker: MarkerRequest): Promise<ListedMarker>;
  removeMarker(id: string): Promise<void>;
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
const textTimeoutMs = 120 * secondMs;
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
    const send = async (method: string, path: string, body: object | undefined, isText: boolean) => {
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
        signal: deps.clock.timeout(isText ? textTimeoutMs : timeoutMs, deps.signal),
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
    const ask: Ask = (method, path, body) => send(method, path, body, false);
    return await work(createClient(ask, (path) => send("GET", path, undefined, true), access));
  } finally {
    await dispatcher.destroy();
  }
}

type Ask = (method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body?: object) => Promise<unknown>;

function createClient(ask: Ask, askText: (path: string) => Promise<unknown>, access: DaemonAccess): DaemonClient {
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
    read: async (path, schema) => {
      guarded();
      return read(schema, await ask("GET", path));
    },
    send: async (method, path, body, schema) => {
      guarded();
      return read(schema, await ask(method, path, body));
    },
    readText: async (path) => {
      guarded();
      return read(z.string(), await askText(path));
    },
    status: async () => read(statusSchema, await ask("GET", "/api/v1/status")),
    alerts: async () => read(alertListSchema, await ask("GET", "/api/v1/alerts")),
    alertsStarting: async (prefix) =>
      read(foundAlertsSchema, await ask("GET", `/api/v1/alerts?id=${encodeURIComponent(prefix)}`)).alerts,
    endedAlerts: async (slug) => {
      const name = encodeURIComponent(slug);
      const checks = read(checkListSchema, await ask("GET", `/api/v1/checks?slug=${name}`));
      if (checks.length === 0) throw new FlatlineError("not_found", `no organization ${slug} is checked`);
      const found = await Promise.all(
        checks.map(async ({ check }) => {
          // A reload may have removed it meanwhile.
          const answer = await ask("GET", `/api/v1/checks/${check}/${name}`).catch(ifMissing);
          const ended = answer === null ? [] : read(checkDetailSchema, answer).endedAlerts;
          return ended.map((alert) => ({ ...alert, check }));
        }),
      );
      return found.flat().toSorted((left, right) => (left.endsAt < right.endsAt ? 1 : -1));
    },
    acknowledge: async (id, by, comment) => {
      guarded();
      const body = { ...(by === null ? {} : { by }), ...(comment === null ? {} : { comment }) };
      return read(alertSchema, await ask("POST", `/api/v1/alerts/${encodeURIComponent(id)}/ack`, body));
    },
    unacknowledge: async (id) => {
      guarded();
      return read(alertSchema, await ask("DELETE", `/api/v1/alerts/${encodeURIComponent(id)}/ack`));
    },
    comment: async (id, by, comment) => {
      guarded();
      await ask("POST", `/api/v1/alerts/${encodeURIComponent(id)}/comments`, {
        comment,
        ...(by === null ? {} : { by }),
      });
    },
    judge: async (id, verdict, { by, comment }) => {
      guarded();
      const path = `/api/v1/alerts/${encodeURIComponent(id)}/judgement`;
      if (verdict === null) return read(alertDetailSchema, await ask("DELETE", path));
      const body = { verdict, ...(by === null ? {} : { by }), ...(comment === null ? {} : { comment }) };
      return read(alertDetailSchema, await ask("POST", path, body));
    },
    gate: async (slug) => read(gateSchema, await ask("GET", `/api/v1/gate/${encodeURIComponent(slug)}`)),
    gates: async () => read(gateListSchema, await ask("GET", "/api/v1/gate")),
    releaseGate: async (slug, by, comment) => {
      guarded();
      const body = { ...(by === null ? {} : { by }), comment };
      return read(gateSchema, await ask("POST", `/api/v1/gate/${encodeURIComponent(slug)}/release`, body));
    },
    slugs: async () => {
      guarded();
      const { places } = read(placeListSchema, await ask("GET", "/places.json"));
      return places.flatMap(({ kind, name }) => (kind === "organization" ? [name] : []));
    },
    silences: async () => {
      guarded();
      return read(z.array(silenceSchema), await ask("GET", "/api/v1/silences"));
    },
    addSilence: async ({ startsAtMs, endsAtMs, ...silence }) => {
      guarded();
      const body = {
        ...silence,
        ...(startsAtMs === undefined ? {} : { startsAt: new Date(startsAtMs).toISOString() }),
        endsAt: new Date(endsAtMs).toISOString(),
      };
      return read(silenceSchema, await ask("POST", "/api/v1/silences", body));
    },
    changeSilence: async (id, { endsAtMs, comment }) => {
      guarded();
      const body = {
        ...(endsAtMs === undefined ? {} : { endsAt: new Date(endsAtMs).toISOString() }),
        ...(comment === undefined ? {} : { comment }),
      };
      return read(silenceSchema, await ask("PATCH", `/api/v1/silences/${encodeURIComponent(id)}`, body));
    },
    expireSilence: async (id) => {
      guarded();
      await ask("DELETE", `/api/v1/silences/${encodeURIComponent(id)}`);
    },
    markers: async (fromMs) => {
      const range = fromMs === null ? "" : `?from=${encodeURIComponent(new Date(fromMs).toISOString())}`;
      return read(z.array(markerSchema), await ask("GET", `/api/v1/markers${range}`));
    },
    addMarker: async ({ atMs, ...marker }) => {
      guarded();
      const body = { ...marker, ...(atMs === undefined ? {} : { at: new Date(atMs).toISOString() }) };
      return read(markerSchema, await ask("POST", "/api/v1/markers", body));
    },
    removeMarker: async (id) => {
      guarded();
      await ask("DELETE", `/api/v1/markers/${encodeURIComponent(id)}`);
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
