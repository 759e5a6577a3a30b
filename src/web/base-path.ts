import type { FastifyInstance } from "fastify";

declare module "fastify" {
  interface FastifyRequest {
    /** The path below which people reach the pages, as `/flatline`; empty: at the root of their host. */
    basePath: string;
  }
}

/** Returns the path of `externalUrl`, without a slash at its end. */
export function basePathOf(externalUrl: string | null): string {
  return (URL.parse(externalUrl ?? "")?.pathname ?? "").replace(/\/+$/, "");
}

/** Returns the address of a request without the path of `externalUrl`, which a reverse proxy may have left in it. */
export function withoutBasePath(basePath: string, url: string): string {
  if (basePath === "" || !url.startsWith(basePath)) return url;
  const rest = url.slice(basePath.length);
  return rest.startsWith("/") ? rest : /^(?:\?|$)/.test(rest) ? `/${rest}` : url;
}

/** Returns markup with each address of this server below a path; what `html` puts in has no quotes of its own. */
export function belowBasePath(basePath: string, markup: string): string {
  if (basePath === "") return markup;
  return markup.replace(/( (?:href|src|action|formaction|hx-get|hx-post)=")\/(?!\/)/g, `$1${basePath}/`);
}

/** Lets each request know the path, and leads each redirect below it (CONTRACT 8). */
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
        // Where a form came from is a path that the browser knows, with it.
        void reply.header(name, basePath + withoutBasePath(basePath, path));
    }
    done();
  });
}
