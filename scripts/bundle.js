// Joins src and the libraries that it imports into the files of dist/program: the program that bin/flatline.js starts,
// and what the package exports. A start then reads some 50 files, not 1,500 (docs/comparison.md). The code stays as it
// was written; a source map leads back to src.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

/**
 * Writes dist/program, and dist/libraries.json: what is inside the package, for its SBOM. `copied` are the folders of
 * libraries that the build copies. `root` ends with a slash.
 */
export async function bundle(root, copied) {
  const { rolldown } = await import("rolldown");
  const folder = join(root, "dist/program");
  const entries = ["src/cli/main.ts", "src/spike/spike.ts", "src/client/client.ts"];
  const build = await rolldown({
    input: Object.fromEntries(entries.map((path) => [basename(path, ".ts"), join(root, path)])),
    platform: "node",
    tsconfig: false,
    // Fastify's compilers of JSON schemas, which web.ts replaces: a third of the daemon's text, and none of it would
    // run.
    resolve: { alias: { "@fastify/ajv-compiler": false, "@fastify/fast-json-stringify-compiler": false } },
    onLog: (level, log, report) => {
      // What libraries do at their import is theirs.
      if (level === "warn" && log.id?.startsWith(join(root, "src/")) !== true) return;
      report(level, log);
    },
  });
  const { output } = await build.write({
    dir: folder,
    // Not ES modules: importing a module of Node.js reads all of its exports, and some of them load what nobody uses.
    format: "cjs",
    strict: true,
    sourcemap: true,
    // Names and places are what a stack needs.
    sourcemapExcludeSources: true,
    // V8 keeps the text of what it has not compiled: one byte per character, or two in a file with one beyond Latin-1.
    charset: "ascii",
    comments: false,
    chunkFileNames: "[name].js",
  });
  await build.close();
  writeFileSync(join(folder, "package.json"), '{ "type": "commonjs" }\n');
  const folders = new Set([...copied, ...output.flatMap((chunk) => (chunk.moduleIds ?? []).flatMap(packageFolder))]);
  const libraries = [...folders].map(library).toSorted((left, right) => left.id.localeCompare(right.id, "en"));
  writeFileSync(join(folder, "THIRD-PARTY-LICENSES.txt"), libraries.map(licence).join("\n"));
  const ids = libraries.map(({ id }) => id);
  writeFileSync(join(root, "dist/libraries.json"), `${JSON.stringify(ids, null, 2)}\n`);
}

function packageFolder(id) {
  // Rolldown's own modules begin with a null byte.
  return /^[^\0]*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? [];
}

function library(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return { folder, id: `${name}@${version}`, name, version, license };
}

/** Their licences want to be where their code is. */
function licence({ folder, name, version, license }) {
  const [file] = globSync("{LICEN[CS]E,licen[cs]e}*", { cwd: folder });
  const text = file === undefined ? `License: ${license}\n` : readFileSync(join(folder, file), "utf8");
  return `${name} ${version}\n\n${text}\n${"-".repeat(80)}\n`;
}
