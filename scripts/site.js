// Joins the browser's code and the sheets of src/web/browser into two files whose names change with what they say, so
// that a browser keeps them for good, and writes their names to site.json for the server (src/web/assets.ts).
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// Layers decide what overrules what; the first sheet names them.
const sheets = ["base", "frame", "parts", "tables", "pages"];

/** `root` ends with a slash; `assets` is the folder of what the pages load. Returns the folders of libraries inside. */
export async function buildSite(root, assets) {
  const { rolldown } = await import("rolldown");
  const browser = join(root, "src/web/browser");
  const build = await rolldown({ input: join(browser, "main.ts"), platform: "browser", tsconfig: false });
  const { output } = await build.generate({ format: "es", minify: true, comments: false });
  await build.close();
  const style = sheets.map((name) => readFileSync(`${browser}/style/${name}.css`, "utf8")).join("\n");
  const script = output.map(({ code }) => code).join("\n");
  const names = {
    style: write(assets, "site", "css", withoutComments(style)),
    script: write(assets, "site", "js", script),
  };
  writeFileSync(join(assets, "site.json"), `${JSON.stringify(names)}\n`);
  return [join(root, "node_modules/htmx.org")];
}

// What only those read who have the repository.
const forContributors = ["architecture.md", "decisions.md"];

/**
 * Writes docs.json for the server (src/web/pages/docs.ts): the title and the markup of each page by its name, in the
 * order of docs/README.md. Links that lead out of it, and pictures, are only their words there.
 */
export async function buildDocs(root, folder) {
  const { Marked } = await import("marked");
  const read = (name) => readFileSync(join(root, "docs", name), "utf8");
  const listed = [...read("README.md").matchAll(/\]\(([a-z-]+\.md)\)/g)].map(([, name]) => name);
  const pages = ["README.md", ...listed.filter((name) => !forContributors.includes(name))];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const content = this.parser.parseInline(tokens);
        return `<h${depth} id="${anchorOf(content)}">${content}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const content = this.parser.parseInline(tokens);
        // The list of pages has a shorter address than they.
        const address = pages.includes(href.replace(/#.*/, "")) ? `/docs/${href}` : href;
        return /^(?:#|https:|\/docs\/)/.test(address) ? `<a href="${address}">${content}</a>` : content;
      },
      image: ({ text }) => text,
      html: () => "",
    },
  });
  const docs = pages.map((name) => {
    const content = marked.parse(read(name));
    return [name, { title: plain(/<h1[^>]*>(.*)<\/h1>/.exec(content)?.[1] ?? name), content }];
  });
  writeFileSync(join(folder, "docs.json"), JSON.stringify(Object.fromEntries(docs)));
}

/** As GitHub names the place of a heading. */
function anchorOf(content) {
  const text = plain(content).toLowerCase();
  return text.replaceAll(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");
}

function plain(content) {
  const named = { lt: "<", gt: ">", amp: "&", quot: '"', "#39": "'" };
  return content.replaceAll(/<[^>]*>/g, "").replaceAll(/&(lt|gt|amp|quot|#39);/g, (_, name) => named[name]);
}

function withoutComments(css) {
  return css.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/\n\s*/g, "\n");
}

function write(folder, name, ending, text) {
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 12);
  const file = `${name}-${hash}.${ending}`;
  writeFileSync(join(folder, file), text);
  return file;
}
