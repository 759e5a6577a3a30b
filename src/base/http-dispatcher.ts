import { Agent, Dispatcher, EnvHttpProxyAgent } from "undici";

import { FlatlineError } from "./errors.ts";

export interface HttpDispatcherOptions {
  /** Environment variables: HTTP_PROXY, HTTPS_PROXY, NO_PROXY; lower-case names take precedence, as in curl. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const agentOptions = {
  // Far more than the number of concurrent checks (source.concurrency): limits sockets, not work.
  connections: 128,
  connectTimeout: 10_000,
  // Checks of one tick share a connection. No connection is kept between ticks, so that none is found closed.
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 60_000,
  // One request per connection: an abort or a reset never affects another request.
  allowH2: false,
} as const;

/**
 * Creates a dispatcher that uses the proxies of `env` and keeps connections alive; its owner closes or destroys it.
 * HTTP_PROXY applies to http: only, HTTPS_PROXY to https: only, as in curl and Go.
 * @throws invalid_config for a proxy that is not a URL
 */
export function createHttpDispatcher(options: HttpDispatcherOptions): Dispatcher {
  const httpProxy = proxyUrl(options.env, "http_proxy");
  const httpsProxy = proxyUrl(options.env, "https_proxy");
  if (httpProxy === "" && httpsProxy === "") return new Agent(agentOptions);
  const noProxy = variable(options.env, "no_proxy");
  // undici falls back from https_proxy to http_proxy, and from options to process.env. So all of them are passed, and https
  // has its own agent.
  const http = new EnvHttpProxyAgent({ ...agentOptions, httpProxy, httpsProxy: "", noProxy });
  const https = new EnvHttpProxyAgent({ ...agentOptions, httpProxy: "", httpsProxy, noProxy });
  return new SchemeDispatcher(http, https);
}

class SchemeDispatcher extends Dispatcher {
  readonly #http: Dispatcher;
  readonly #https: Dispatcher;

  constructor(http: Dispatcher, https: Dispatcher) {
    super();
    this.#http = http;
    this.#https = https;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const isHttps = String(options.origin).startsWith("https:");
    return (isHttps ? this.#https : this.#http).dispatch(options, handler);
  }

  override close(): Promise<void>;
  override close(callback: () => void): void;
  override close(callback?: () => void): Promise<void> | void {
    return finish(Promise.all([this.#http.close(), this.#https.close()]), callback);
  }

  override destroy(...args: readonly unknown[]): Promise<void> {
    const error = args.find((arg) => arg instanceof Error) ?? null;
    const callback = args.find((arg) => typeof arg === "function") as (() => void) | undefined;
    const done = Promise.all([this.#http.destroy(error), this.#https.destroy(error)]);
    return finish(done, callback) ?? done.then(() => undefined);
  }
}

function finish(done: Promise<unknown>, callback: (() => void) | undefined): Promise<void> | undefined {
  const closed = done.then(() => undefined);
  if (callback === undefined) return closed;
  void closed.finally(callback);
  return undefined;
}

function variable(env: HttpDispatcherOptions["env"], name: string): string {
  return (env[name] ?? env[name.toUpperCase()] ?? "").trim();
}

function proxyUrl(env: HttpDispatcherOptions["env"], name: string): string {
  const value = variable(env, name);
  if (value === "") return "";
  // curl and Go take `proxy:3128` as well.
  const text = value.includes("://") ? value : `http://${value}`;
  if (URL.canParse(text) && /^(?:https?|socks5?):/.test(text)) return text;
  // The value may contain a password, so the message omits it.
  throw new FlatlineError("invalid_config", `the environment variable ${name.toUpperCase()} is not the URL of a proxy`);
}
