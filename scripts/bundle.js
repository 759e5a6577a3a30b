// Joins dist and what it imports into a few minified files in dist/program, which bin/flatline.js starts: a third of the time
// and two thirds of the memory of several hundred files (docs/performance.md). What is exported stays as tsc made it.
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

/** Writes dist/program; `root` ends with a slash. */
export async function bundle(root) {
  const { rolldown } = await import("rolldown");
  const workers = globSync("dist/**/*-worker.js", { cwd: root, exclude: ["dist/program/**"] });
  const entries = ["dist/cli/main.js", ...workers].map((path) => [basename(path, ".js"), join(root, path)]);
  const build = await rolldown({
    input: Object.fromEntries(entries),
    platform: "node",
    plugins: [httpModule],
    onLog: (level, log, report) => {
      // What libraries do at their import is theirs.
      if (level === "warn" && log.id?.startsWith(join(root, "dist/")) !== true) return;
      report(level, log);
    },
  });
  const { output } = await build.write({
    dir: join(root, "dist/program"),
    format: "esm",
    minify: true,
    chunkFileNames: ({ name }) => `${name.replaceAll(".", "-")}-[hash].js`,
  });
  await build.close();
  for (const { type, fileName, code } of output)
    if (type === "chunk") writeFileSync(join(root, "dist/program", fileName), asciiOnly(code));
  const packages = new Set(output.flatMap((chunk) => (chunk.moduleIds ?? []).flatMap(packageFolder)));
  const licences = [...packages].map(licence).toSorted((left, right) => left.localeCompare(right, "en"));
  writeFileSync(join(root, "dist/program/THIRD-PARTY-LICENSES.txt"), licences.join("\n"));
}

/**
 * An ES module's `import … from "node:http"` reads all exports at once, the getter of WebSocket too, and that loads Node's own
 * undici: 30 ms of a start. As a CommonJS module only what is used is read.
 */
const httpModule = {
  name: "http-module",
  resolveId: (id) => (/^(?:node:)?http$/.test(id) ? "\0http" : null),
  load: (id) => (id === "\0http" ? 'module.exports = process.getBuiltinModule("node:http");' : null),
};

/**
 * The same code with other characters written as escapes: one of them in a file, and V8 keeps the whole text in two bytes a
 * character, 3 MB of an idle daemon. Between quotes, in regular expressions and in names an escape means the same.
 */
function asciiOnly(code) {
  // Only there it would not: what is raw is taken as it is written.
  const raw = /\.raw`[^`]*[^\0-\x7f][^`]*`/.exec(code);
  if (raw !== null) throw new Error(`a raw template with a character beyond ASCII: ${raw[0]}`);
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function packageFolder(id) {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? [];
}

/** Their licences want to be where their code is. */
function licence(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const [file] = globSync("{LICEN[CS]E,licen[cs]e}*", { cwd: folder });
  const text =
    file === undefined || !existsSync(join(folder, file))
      ? `License: ${license}\n`
      : readFileSync(join(folder, file), "utf8");
  return `${name} ${version}\n\n${text}\n${"-".repeat(80)}\n`;
}
