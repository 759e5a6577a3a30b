// Builds dist from src: the program, the scripts of the page, and the declarations of what the package exports. A no-op
// where the tools are not installed.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { bundle } from "./bundle.js";
import { buildDocs, buildSite } from "./site.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const tsc = `${root}node_modules/typescript/bin/tsc`;
const compile = (project) => spawnSync(process.execPath, [tsc, "-p", project], { cwd: root, stdio: "inherit" }).status;
// The first `npx flatline` in a clone installs the clone into npx's own cache, which prepares it again: that would take
// away what `npm ci` compiled from under the daemon that runs.
const isNpx = process.env["npm_command"] === "exec" && existsSync(`${root}dist`);
if (!isNpx && existsSync(tsc) && existsSync(`${root}src`)) {
  rmSync(`${root}dist`, { recursive: true, force: true });
  const status = compile("tsconfig.build.json");
  const assets = `${root}dist/web/assets`;
  mkdirSync(assets, { recursive: true });
  const browser = `${root}src/web/browser`;
  for (const name of readdirSync(browser)) {
    if (name.endsWith(".svg")) copyFileSync(`${browser}/${name}`, `${assets}/${name}`);
  }
  // As the code that they describe (scripts/bundle.js).
  writeFileSync(`${root}dist/types/package.json`, '{ "type": "commonjs" }\n');
  process.exitCode = status ?? 1;
  if (process.exitCode === 0) {
    await buildDocs(root, `${root}dist/web`);
    const libraries = await buildSite(root, assets);
    for (const name of readdirSync(assets).filter((name) => /\.(?:css|js|svg)$/.test(name)))
      writeFileSync(`${assets}/${name}.gz`, gzipSync(readFileSync(`${assets}/${name}`), { level: 9 }));
    await bundle(root, libraries);
  }
}
