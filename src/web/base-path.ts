import type { FastifyInstance } from "fastify";

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
