import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { createServer as createRawServer, type AddressInfo, type Server } from "node:net";

import type { ProberSettings } from "../../../src/look/prober/exchange.ts";
import { startDnsServer, type DnsAnswer, type DnsServer } from "./dns-server.ts";
import { startForwardProxy, type ForwardProxy } from "./forward-proxy.ts";

/** What a host's pages answer; a text is a page with status 200. */
export type Page = string | ((request: IncomingMessage, response: ServerResponse) => unknown);

/** An address that accepts connections and never says a word. */
export const silentAddress = "9.9.9.9";
/** An address that the proxy refuses. */
export const refusedAddress = "9.9.9.8";
/** Where pages are, in the tests. */
export const pageAddress = "8.8.4.4";

/** A resolver, a proxy and servers of pages on the loopback interface: the proxy leads all addresses to the servers. */
export interface LookWorld extends AsyncDisposable {
  readonly dns: DnsServer;
  readonly proxy: ForwardProxy;
  /** Each request that a server of pages got. */
  readonly requests: IncomingMessage[];
  readonly settings: ProberSettings;
}

const [key, cert] = ["key", "cert"].map((name) =>
  readFileSync(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url)),
);

/** Starts them; a name without an answer is at `pageAddress`, when it has a page, and else does not exist. */
export async function startLookWorld({
  names = {},
  pages = {},
  timeoutMs = 10_000,
  ...settings
}: {
  readonly names?: Readonly<Record<string, DnsAnswer | ((name: string) => DnsAnswer)>>;
  readonly pages?: Readonly<Record<string, Page>> | ((host: string) => Page | undefined);
  readonly timeoutMs?: number;
} & Partial<Omit<ProberSettings, "http">> = {}): Promise<LookWorld> {
  const requests: IncomingMessage[] = [];
  const pageOf = typeof pages === "function" ? pages : (host: string): Page | undefined => pages[host];
  const listener: RequestListener = (request, response) => {
    requests.push(request);
    const page = pageOf((request.headers.host ?? "").replace(/:\d+$/, ""));
    if (page === undefined) response.writeHead(404).end("no such page");
    else if (typeof page === "string") response.end(page);
    else page(request, response);
  };
  const servers = [
    createServer(listener),
    createSecureServer({ key, cert }, listener),
    createRawServer((socket) => socket.resume()),
  ] as const;
  const [plain, secure, silent] = servers;
  const [plainPort = 0, securePort = 0, silentPort = 0] = await Promise.all(servers.map(listen));
  // A client that goes away in the middle is what is tested.
  for (const server of servers) server.on("connection", (socket) => socket.on("error", () => undefined));
  const dns = await startDnsServer((name) => {
    const answer = names[name];
    if (answer !== undefined) return typeof answer === "function" ? answer(name) : answer;
    return pageOf(name) === undefined ? "NXDOMAIN" : [pageAddress];
  });
  const proxy = await startForwardProxy((authority) => {
    if (authority.startsWith(`${silentAddress}:`)) return { port: silentPort };
    if (authority.startsWith(`${refusedAddress}:`)) return { status: 403 };
    return { port: authority.endsWith(":443") ? securePort : plainPort };
  });
  return {
    dns,
    proxy,
    requests,
    settings: {
      dnsServers: [dns.address],
      http: { proxy: proxy.url, userAgent: "looker", timeoutMs },
      hosts: [],
      allow: [],
      ...settings,
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([dns[Symbol.asyncDispose](), proxy[Symbol.asyncDispose]()]);
      plain.closeAllConnections();
      secure.closeAllConnections();
      await Promise.all([plain, secure, silent].map(async (server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}
