import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { sendProblem } from "./problem.ts";
import { addRoute } from "./route.ts";

interface Asset {
  readonly type: string;
  readonly etag: string;
  readonly plain: Buffer;
  /** As the build compressed it. */
  readonly gzip: Buffer | null;
}

const types: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

// What scripts/build.js made: as seen from dist/program, and from the sources, which take what was built last.
const folders = ["../web/", "../../dist/web/"].map((path) => new URL(path, import.meta.url));
const hashedName = /-[0-9a-f]{12}\.(?:css|js)$/;
const namePattern = /^(?:[a-z0-9-]+\/){0,3}[a-z0-9-]+\.(css|js|svg)$/;

/** `/assets/…`: style, scripts and marks, as the build compressed them, with an ETag. The sign-in needs them before it knows who asks. */
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

/** Returns a file that the build made for the pages; null: it is not there. */
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
  // A name with a hash says what it holds, for good; others are asked again, and answered with 304.
  const caching = hashedName.test(request.url) ? "public, max-age=31536000, immutable" : "no-cache";
  void reply.headers({ etag: asset.etag, "cache-control": caching, vary: "accept-encoding" }).type(asset.type);
  if (request.headers["if-none-match"] === asset.etag) return reply.code(304).send();
  if (asset.gzip === null || !acceptsGzip(request)) return reply.send(asset.plain);
  return reply.header("content-encoding", "gzip").send(asset.gzip);
}

export function acceptsGzip({ headers }: FastifyRequest): boolean {
  return (headers["accept-encoding"] ?? "")
    .toLowerCase()
    .split(",")
    .some((part) => part.split(";", 1)[0]?.trim() === "gzip" && !/;\s*q=0(?:\.0*)?\s*$/.test(part));
}

let siteFiles: { readonly style: string; readonly script: string } | null = null;

/** Returns the names of the style and the script of all pages: each has a part that changes with what it says. */
export function siteAssets(): { readonly style: string; readonly script: string } {
  siteFiles ??= JSON.parse(
    readBuilt("assets/site.json")?.toString() ?? '{"style":"site.css","script":"site.js"}',
  ) as NonNullable<typeof siteFiles>;
  return siteFiles;
}
