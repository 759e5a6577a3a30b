import type { IncomingMessage } from "node:http";

import type { FastifyInstance } from "fastify";

import { isLoopbackHost } from "../base/url.ts";
import { memoized } from "../base/memo.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The path of `externalUrl`, such as `/flatline`; empty: the root. */
    basePath: string;
  }
}

/** Returns the path of `externalUrl` without a trailing slash. Each request asks for it. */
export const basePathOf = memoized(1, (externalUrl: string | null): string =>
  (URL.parse(externalUrl ?? "")?.pathname ?? "").replace(/\/+$/, ""),
);

/** Returns the address of a request without the base path, which a reverse proxy may have kept. */
export function withoutBasePath(basePath: string, url: string): string {
  if (basePath === "" || !url.startsWith(basePath)) return url;
  const rest = url.slice(basePath.length);
  return rest.startsWith("/") ? rest : /^(?:\?|$)/.test(rest) ? `/${rest}` : url;
}

/** Returns markup with the base path before each address; `html` escapes quotes, so that texts never match. */
export function belowBasePath(basePath: string, markup: string): string {
  if (basePath === "") return markup;
  return markup.replace(/( (?:href|src|action|formaction|hx-get|hx-post)=")\/(?!\/)/g, `$1${basePath}/`);
}

/** Sets the base path of each request, and puts it before each redirect (CONTRACT 8). */
export function addBasePath(server: FastifyInstance, externalUrl: () => string | null): void {
  server.decorateRequest("basePath", "");
  server.addHook("onRequest", (request, _reply, done) => {
    request.basePath = basePathOf(externalUrl());
    done();
  });
  server.addHook("onSend", ({ basePath }, reply, _payload, done) => {
    for (const name of basePath === "" ? [] : ["location", "hx-redirect"]) {
      const path = reply.getHeader(name);
      if (typeof path === "string" && path.startsWith("/"))
        // A path from a form's `Referer` already has it.
        void reply.header(name, basePath + withoutBasePath(basePath, path));
    }
    done();
  });
}

/**
 * Returns the refusal of a request that names a foreign host to a server on the loopback interface; null: it is
 * allowed. Otherwise a foreign site whose name resolves to 127.0.0.1 could read everything (DNS rebinding). Browsers
 * always send `Host`. `listenHost`: the host of `server.listen`.
 */
export function refuseForeignHost(
  host: string | undefined,
  { listenHost, externalUrl }: { readonly listenHost: string; readonly externalUrl: string | null },
): string | null {
  if (host === undefined) return null;
  const hostname = hostnameOf(host);
  const own = [hostnameOf(listenHost), hostnameOfUrl(externalUrl ?? "")];
  if (hostname !== null && (isLoopbackHost(hostname) || own.includes(hostname))) return null;
  const shown = JSON.stringify(host.slice(0, longestShown));
  return (
    `flatline listens on this machine only and does not answer to the name ${shown}: ` +
    "use localhost or 127.0.0.1, or set alerting.externalUrl to the address that it is reached by"
  );
}

// A DNS name has at most 253 characters.
const longestShown = 253;

// Each request asks three times for the same few names.
const keptNames = 64;
const hostnameOfUrl = memoized(keptNames, (url: string) => URL.parse(url)?.hostname ?? null);
const hostnameOf = memoized(keptNames, (host: string) =>
  /^[^@/?#\\]+$/.test(host) ? hostnameOfUrl(`http://${host}`) : null,
);

/**
 * Returns whether a page of flatline sent the request: browsers add cookies to requests of other sites, too.
 * `isHostEnough`: the page may be at the request's own host, not only at `externalUrl`.
 */
export function isFromOwnPage(
  { headers }: Pick<IncomingMessage, "headers">,
  externalUrl: string | null,
  { isHostEnough }: { readonly isHostEnough: boolean },
): boolean {
  if (headers["sec-fetch-site"] === "same-origin") return true;
  const origin = headers.origin === undefined ? null : URL.parse(headers.origin);
  if (origin === null) return false;
  const external = externalUrl === null ? null : new URL(externalUrl);
  if (!isHostEnough) return origin.origin === external?.origin;
  return origin.host !== "" && (origin.host === external?.host || isHostOf(origin, headers.host));
}

/** Returns whether a `Host` header names the host and port of an address. */
export function isHostOf(url: URL, host: string | undefined): boolean {
  // An address may have its scheme's default port, or leave it out.
  return host !== undefined && URL.parse(`${url.protocol}//${host}`)?.host === url.host;
}
