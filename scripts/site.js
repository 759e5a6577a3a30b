// Joins the browser's code and the sheets of src/web/browser into two files whose names change with what they say, so that a
// browser keeps them for good, and writes their names to site.json for the server (src/web/pages/assets.ts).
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// Layers decide what overrules what; the first sheet names them.
const sheets = ["base", "frame", "parts", "tables", "chart", "pages"];

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

function withoutComments(css) {
  return css.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/\n\s*/g, "\n");
}

function write(folder, name, ending, text) {
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 12);
  const file = `${name}-${hash}.${ending}`;
  writeFileSync(join(folder, file), text);
  return file;
}
