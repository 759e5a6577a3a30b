import type { FastifyInstance } from "fastify";
import { z } from "zod";

import { sendHtml } from "../answer.ts";
import { readBuilt } from "../assets.ts";
import { html } from "../parts/html.ts";
import { sendProblem } from "../problem.ts";
import { addRoute, type Asked } from "../route.ts";
import { renderSheet } from "./sheet.ts";

const docsSchema = z.record(z.string(), z.object({ title: z.string(), content: z.string() }));
type Docs = z.infer<typeof docsSchema>;

/** `/docs`: the documentation of this version, where `runbook_url` of the shipped rules leads. */
export function addDocsPages(server: FastifyInstance): void {
  let known: Docs | null = null;
  const send = (name: string | null, { request, reply }: Pick<Asked<"", unknown, unknown>, "request" | "reply">) => {
    known ??= readDocs();
    const page = name === null ? listOf(known) : known[name.endsWith(".md") ? name : `${name}.md`];
    if (page === undefined) return sendProblem(reply, 404, "no such page; /docs lists them");
    const { title, content } = page;
    // The project's own text, built with the program.
    const main = html`<article class="docs">${{ html: content }}</article>`;
    return sendHtml(request, reply, renderSheet(title, main));
  };
  addRoute(server, "GET /docs", { access: "open", handle: (asked) => send(null, asked) });
  addRoute(server, "GET /docs/:page", { access: "open", handle: (asked) => send(asked.params.page, asked) });
}

function readDocs(): Docs {
  const built = readBuilt("docs.json");
  return built === null ? {} : docsSchema.parse(JSON.parse(built.toString()));
}

function listOf(docs: Docs): Docs[string] {
  const items = Object.entries(docs).map(([name, { title }]) => html`<li><a href="/docs/${name}">${title}</a></li>`);
  return {
    title: "Documentation",
    content: html`<h1>Documentation</h1>
      <ul>
        ${items}
      </ul>`.html,
  };
}
