import type { FastifyInstance } from "fastify";
import { z } from "zod";

import { sendHtml, sendProblem } from "../answer.ts";
import { readBuilt } from "../assets.ts";
import { html } from "./html.ts";
import { addRoute, type Asked } from "../route.ts";
import { renderSheet } from "./frame.ts";

// The pages in the order of docs/README.md, which is the first.
const docsSchema = z.record(z.string(), z.object({ title: z.string(), content: z.string() }));
type Docs = z.infer<typeof docsSchema>;

/** Adds `/docs`, to which `runbook_url` of the shipped rules leads; `?q=` finds headings. */
export function addDocsPages(server: FastifyInstance): void {
  let known: Docs | null = null;
  const send = (
    name: string,
    asked: string,
    { request, reply }: Pick<Asked<"", unknown, unknown>, "request" | "reply">,
  ) => {
    known ??= readDocs();
    const page = asked === "" ? known[name.endsWith(".md") ? name : `${name}.md`] : findHeadings(known, asked);
    if (page === undefined) return sendProblem(reply, 404, "no such page; /docs lists them");
    const { title, content } = page;
    // The build made this markup from the project's own text.
    const main = html`<article class="docs">
      <form role="search" action="/docs">
        <a href="/docs">All pages</a>
        <label class="filter"
          ><span class="sr">Find in headings</span
          ><input type="search" name="q" value="${asked}" placeholder="Find in headings" spellcheck="false"
        /></label>
      </form>
      ${{ html: content }}
    </article>`;
    return sendHtml(request, reply, renderSheet(title, main));
  };
  addRoute(server, "GET /docs", {
    access: "open",
    query: z.object({ q: z.string().trim().default("") }),
    handle: (asked) => send("README", asked.query.q, asked),
  });
  addRoute(server, "GET /docs/:page", { access: "open", handle: (asked) => send(asked.params.page, "", asked) });
}

function readDocs(): Docs {
  const built = readBuilt("docs.json");
  const none = { "README.md": { title: "Documentation", content: "<h1>Documentation</h1>" } };
  return built === null ? none : docsSchema.parse(JSON.parse(built.toString()));
}

/** Returns the headings that contain all of these words. */
function findHeadings(docs: Docs, asked: string): Docs[string] {
  const words = asked.toLowerCase().split(/\s+/);
  const found = Object.entries(docs).flatMap(([name, { title, content }]) =>
    [...content.matchAll(/<h[1-4] id="([^"]*)">(.*?)<\/h/g)].flatMap(([, anchor = "", heading = ""]) =>
      words.every((word) => `${title} ${heading}`.toLowerCase().includes(word))
        ? html`<li><a href="/docs/${name}#${anchor}">${{ html: heading }}</a> · ${title}</li>`
        : [],
    ),
  );
  const list =
    found.length === 0
      ? html`<p>No heading has these words.</p>`
      : html`<ul>
          ${found}
        </ul>`;
  return {
    title: "Documentation",
    content: html`<h1>Headings with «${asked}»</h1>
      ${list}`.html,
  };
}
