import type { FastifyInstance } from "fastify";
import { z } from "zod";

import { sendHtml } from "../answer.ts";
import { readBuilt } from "../assets.ts";
import { html } from "../parts/html.ts";
import { sendProblem } from "../problem.ts";
import { addRoute, type Asked } from "../route.ts";
import { renderSheet } from "./frame.ts";

// The pages in the order of docs/README.md, which is the first.
const docsSchema = z.record(z.string(), z.object({ title: z.string(), content: z.string() }));
type Docs = z.infer<typeof docsSchema>;

/** Adds `/docs`, to which `runbook_url` of the shipped rules leads. */
export function addDocsPages(server: FastifyInstance): void {
  let known: Docs | null = null;
  const send = (name: string, { request, reply }: Pick<Asked<"", unknown, unknown>, "request" | "reply">) => {
    known ??= readDocs();
    const page = known[name.endsWith(".md") ? name : `${name}.md`];
    if (page === undefined) return sendProblem(reply, 404, "no such page; /docs lists them");
    const { title, content } = page;
    // The build made this markup from the project's own text.
    const main = html`<article class="docs"><a href="/docs">All pages</a>${{ html: content }}</article>`;
    return sendHtml(request, reply, renderSheet(title, main));
  };
  addRoute(server, "GET /docs", { access: "open", handle: (asked) => send("README", asked) });
  addRoute(server, "GET /docs/:page", { access: "open", handle: (asked) => send(asked.params.page, asked) });
}

function readDocs(): Docs {
  const built = readBuilt("docs.json");
  const none = { "README.md": { title: "Documentation", content: "<h1>Documentation</h1>" } };
  return built === null ? none : docsSchema.parse(JSON.parse(built.toString()));
}
