import type { Dispatcher } from "undici";

import { FlatlineError } from "./errors.ts";

/** The methods of undici's dispatchers that flatline uses. */
export interface HttpDispatcher {
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): unknown;
  close(): Promise<void>;
  destroy(): Promise<void>;
}

const agentOptions = {
  // Limits sockets, not work: far more than source.concurrency.
  connections: 128,
  connectTimeout: 10_000,
  // TCP probes begin after a minute: by then deadlines have ended each request, and idle connections are closed.
  connect: { keepAlive: false },
  // Checks of one tick share a connection. No connection is kept between ticks, so that none is found closed.
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 60_000,
  // One request per connection: an abort or a reset affects no other request.
  allowH2: false,
} as const;

/** HTTP_PROXY, HTTPS_PROXY, NO_PROXY; lower-case names take precedence, as in curl. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Creates a dispatcher that uses the proxies of `env` and keeps connections alive; its owner closes it. As in curl and
 * Go, HTTP_PROXY is for http: only and HTTPS_PROXY for https: only. It loads undici (8 MiB) with the first request.
 * @throws invalid_config for a proxy that is not a URL
 */
export function createHttpDispatcher({ env }: { readonly env: Environment }): HttpDispatcher {
  const httpProxy = proxyUrl(env, "http_proxy");
  const httpsProxy = proxyUrl(env, "https_proxy");
  const noProxy = variable(env, "no_proxy");
  let opened: ReturnType<typeof openAgents> | null = null;
  let isEnded = false;

  async function openAgents() {
    const { EnvHttpProxyAgent } = await import("undici");
    // undici falls back from https_proxy to http_proxy, so https has its own agent, and from options to process.env.
    const none = { ...agentOptions, httpProxy: "", httpsProxy: "", noProxy };
    return {
      http: new EnvHttpProxyAgent({ ...none, httpProxy }),
      https: new EnvHttpProxyAgent({ ...none, httpsProxy }),
    };
  }
  async function endAll(end: (agent: Dispatcher) => Promise<void>): Promise<void> {
    isEnded = true;
    if (opened !== null) await Promise.all(Object.values(await opened).map(end));
  }
  const destroy = (): Promise<void> => endAll((agent) => agent.destroy());

  return {
    dispatch: (options, handler) => {
      opened ??= openAgents();
      // undici refuses this request, like any after the end.
      if (isEnded) void destroy();
      const scheme = String(options.origin).startsWith("https:") ? "https" : "http";
      void opened.then((agents) => agents[scheme].dispatch(options, handler));
    },
    close: () => endAll((agent) => agent.close()),
    destroy,
  };
}

function variable(env: Environment, name: string): string {
  return (env[name] ?? env[name.toUpperCase()] ?? "").trim();
}

function proxyUrl(env: Environment, name: string): string {
  const value = variable(env, name);
  if (value === "") return "";
  // curl and Go also take `proxy:3128`.
  const text = value.includes("://") ? value : `http://${value}`;
  if (URL.canParse(text) && /^(?:https?|socks5?):/.test(text)) return text;
  // The message omits the value, which may contain a password.
  throw new FlatlineError("invalid_config", `the environment variable ${name.toUpperCase()} is not the URL of a proxy`);
}
