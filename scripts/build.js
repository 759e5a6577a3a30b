// Builds dist from src: the program, the scripts of the page, and the declarations of what the package exports. A no-op where
// the tools are not installed.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle.js";
import { buildSite } from "./site.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const tsc = `${root}node_modules/typescript/bin/tsc`;
const compile = (project) => spawnSync(process.execPath, [tsc, "-p", project], { cwd: root, stdio: "inherit" }).status;
// The first `npx flatline` in a clone installs the clone into npx's own cache, which prepares it again: that would take away
// what `npm ci` compiled from under the daemon that runs.
const isNpx = process.env["npm_command"] === "exec" && existsSync(`${root}dist`);
if (!isNpx && existsSync(tsc) && existsSync(`${root}src`)) {
  rmSync(`${root}dist`, { recursive: true, force: true });
  const statuses = [compile("tsconfig.build.json"), compile("src/web/client/tsconfig.json")];
  const assets = `${root}dist/web/assets`;
  mkdirSync(assets, { recursive: true });
  const client = `${root}src/web/client`;
  for (const name of readdirSync(client)) {
    if (name.endsWith(".svg")) copyFileSync(`${client}/${name}`, `${assets}/${name}`);
  }
  const uplot = `${root}node_modules/uplot`;
  copyFileSync(`${uplot}/dist/uPlot.iife.min.js`, `${assets}/uplot.js`);
  // One file, in the order of the cascade; "narrow" overrides the sheets before it, and each later one has its own narrow part.
  const styles = [
    "base",
    "frame",
    "overview",
    "organization",
    "chart",
    "parts",
    "narrow",
    "listing",
    "alerts",
    "acts",
    "dead-assets",
    "bulk",
  ];
  const css = [`${uplot}/dist/uPlot.min.css`, ...styles.map((name) => `${client}/style/${name}.css`)].map((path) =>
    readFileSync(path, "utf8"),
  );
  writeFileSync(`${assets}/page.css`, css.join("\n"));
  // As the code that they describe (scripts/bundle.js).
  writeFileSync(`${root}dist/types/package.json`, '{ "type": "commonjs" }\n');
  process.exitCode = statuses.find((status) => status !== 0) ?? 0;
  if (process.exitCode === 0) await bundle(root, [uplot, ...(await buildSite(root, assets))]);
}
