import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { acceptsGzip, sendProblem } from "./answer.ts";
import { addRoute } from "./route.ts";

interface Asset {
  readonly type: string;
  readonly etag: string;
  readonly plain: Buffer;
  /** null: the build made no compressed file. */
  readonly gzip: Buffer | null;
}

const types: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

// The output of scripts/build.js, as seen from dist/program, and from the sources.
const folders = ["../web/", "../../dist/web/"].map((path) => new URL(path, import.meta.url));
const hashedName = /-[0-9a-f]{12}\.(?:css|js)$/;
const namePattern = /^(?:[a-z0-9-]+\/){0,3}[a-z0-9-]+\.(css|js|svg)$/;

/** Adds `/assets/…`: the files of the build, with an ETag. They are open, because the sign-in page needs them. */
export function addPageAssets(server: FastifyInstance): void {
  const known = new Map<string, Asset>();
  addRoute(server, "GET /assets/*", {
    access: "open",
    handle: ({ request, reply, params: { "*": name } }) => {
      const asset = known.get(name) ?? readAsset(name);
      if (asset === null) return sendProblem(reply, 404, "no such path");
      known.set(name, asset);
      return sendAsset(request, reply, asset);
    },
  });
}

function readAsset(name: string): Asset | null {
  const ending = namePattern.exec(name)?.[1];
  const path = `assets/${name}`;
  const plain = ending === undefined ? null : readBuilt(path);
  if (ending === undefined || plain === null) return null;
  return {
    type: types[ending] ?? "text/plain",
    etag: `"${createHash("sha256").update(plain).digest("base64url").slice(0, 16)}"`,
    plain,
    gzip: readBuilt(`${path}.gz`),
  };
}

/** Returns a file of the build for the pages; null: it does not exist. */
export function readBuilt(path: string): Buffer | null {
  for (const folder of folders) {
    try {
      return readFileSync(new URL(path, folder));
    } catch {
      continue;
    }
  }
  return null;
}

function sendAsset(request: FastifyRequest, reply: FastifyReply, asset: Asset): FastifyReply {
  // A name with a hash never changes its content; other files are revalidated.
  const caching = hashedName.test(request.url) ? "public, max-age=31536000, immutable" : "no-cache";
  void reply.headers({ etag: asset.etag, "cache-control": caching, vary: "accept-encoding" }).type(asset.type);
  if (request.headers["if-none-match"] === asset.etag) return reply.code(304).send();
  if (asset.gzip === null || !acceptsGzip(request)) return reply.send(asset.plain);
  return reply.header("content-encoding", "gzip").send(asset.gzip);
}

let siteFiles: { readonly style: string; readonly script: string } | null = null;

/** Returns the names of the pages' style and script, each with a hash of its content. */
export function siteAssets(): { readonly style: string; readonly script: string } {
  siteFiles ??= JSON.parse(
    readBuilt("assets/site.json")?.toString() ?? '{"style":"site.css","script":"site.js"}',
  ) as NonNullable<typeof siteFiles>;
  return siteFiles;
}
