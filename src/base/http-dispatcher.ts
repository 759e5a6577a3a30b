import type { Dispatcher } from "undici";

import { FlatlineError } from "./errors.ts";

export interface HttpDispatcherOptions {
  /** Environment variables: HTTP_PROXY, HTTPS_PROXY, NO_PROXY; lower-case names take precedence, as in curl. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Sends requests: what we use of undici's dispatchers. */
export interface HttpDispatcher {
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): unknown;
  /** Waits for running requests. */
  close(): Promise<void>;
  /** Ends running requests. */
  destroy(): Promise<void>;
}

const agentOptions = {
  // Far more than the number of concurrent checks (source.concurrency): limits sockets, not work.
  connections: 128,
  connectTimeout: 10_000,
  // TCP's own probes begin after a minute: by then each request has ended by its deadline, and each idle connection is closed.
  connect: { keepAlive: false },
  // Checks of one tick share a connection. No connection is kept between ticks, so that none is found closed.
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 60_000,
  // One request per connection: an abort or a reset never affects another request.
  allowH2: false,
} as const;

interface Proxies {
  readonly http: string;
  readonly https: string;
  readonly except: string;
}

/** The agents of both schemes; one and the same without proxies. */
interface Agents {
  readonly http: Dispatcher;
  readonly https: Dispatcher;
}

/**
 * Creates a dispatcher that uses the proxies of `env` and keeps connections alive; its owner closes or destroys it.
 * HTTP_PROXY applies to http: only, HTTPS_PROXY to https: only, as in curl and Go.
 * @throws invalid_config for a proxy that is not a URL
 */
export function createHttpDispatcher({ env }: HttpDispatcherOptions): HttpDispatcher {
  const [http, https] = [proxyUrl(env, "http_proxy"), proxyUrl(env, "https_proxy")];
  return new LazyDispatcher({ http, https, except: variable(env, "no_proxy") });
}

/** Loads undici with the first request: 8 MiB that a daemon without a remote source and without alerts does not need. */
class LazyDispatcher implements HttpDispatcher {
  readonly #proxies: Proxies;
  #agents: Promise<Agents> | null = null;
  #isEnded = false;

  constructor(proxies: Proxies) {
    this.#proxies = proxies;
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    if (this.#agents === null) {
      this.#agents = openAgents(this.#proxies);
      // undici refuses this request, like any after the end.
      if (this.#isEnded) void this.destroy();
    }
    const isHttps = String(options.origin).startsWith("https:");
    void this.#agents.then(({ http, https }) => (isHttps ? https : http).dispatch(options, handler));
  }

  close(): Promise<void> {
    return this.#end((agent) => agent.close());
  }

  destroy(): Promise<void> {
    return this.#end((agent) => agent.destroy());
  }

  async #end(end: (agent: Dispatcher) => Promise<void>): Promise<void> {
    this.#isEnded = true;
    const agents = await this.#agents;
    if (agents !== null) await Promise.all([...new Set([agents.http, agents.https])].map(end));
  }
}

async function openAgents({ http, https, except }: Proxies): Promise<Agents> {
  const { Agent, EnvHttpProxyAgent } = await import("undici");
  if (http === "" && https === "") {
    const agent = new Agent(agentOptions);
    return { http: agent, https: agent };
  }
  // undici falls back from https_proxy to http_proxy, and from options to process.env. So all of them are passed, and https
  // has its own agent.
  return {
    http: new EnvHttpProxyAgent({ ...agentOptions, httpProxy: http, httpsProxy: "", noProxy: except }),
    https: new EnvHttpProxyAgent({ ...agentOptions, httpProxy: "", httpsProxy: https, noProxy: except }),
  };
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
