// The package has its libraries inside (scripts/bundle.js), so that an installation needs no registry. `npm pack`
// therefore packs a manifest that names them as `bundled`, in place of `dependencies` that npm would fetch, beside
// their bill of materials. Usage: node scripts/packed-manifest.js write | restore
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const manifest = fileURLToPath(new URL("../package.json", import.meta.url));
const dist = fileURLToPath(new URL("../dist/", import.meta.url));
const source = `${dist}package.source.json`;

if (process.argv[2] === "write") write();
else restore();

function write() {
  const text = readFileSync(manifest, "utf8");
  const {
    scripts: _,
    dependencies: _inside,
    devDependencies: _tools,
    allowScripts: _allowed,
    ...rest
  } = JSON.parse(text);
  const npm = ["sbom", "--sbom-format=cyclonedx", "--sbom-type=application", "--package-lock-only"];
  const { status, stdout, stderr } = spawnSync("npm", npm, { encoding: "utf8", maxBuffer: 64 * 1_024 ** 2 });
  if (status !== 0) throw new Error(`npm sbom failed: ${stderr}`);
  const bundled = JSON.parse(readFileSync(`${dist}libraries.json`, "utf8"));
  const sbom = JSON.parse(stdout);
  // npm calls it by the folder's name; with --omit=dev it leaves out what a tool needs, too.
  sbom.metadata.component.name = rest.name;
  sbom.components = sbom.components.filter(({ name, version }) => bundled.includes(`${name}@${version}`));
  const refs = new Set(sbom.components.map((component) => component["bom-ref"]));
  const isInside = (ref) => refs.has(ref) || ref === sbom.metadata.component["bom-ref"];
  sbom.dependencies = sbom.dependencies
    .filter(({ ref }) => isInside(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isInside) }));
  writeFileSync(`${dist}program/sbom.cdx.json`, `${JSON.stringify(sbom, null, 2)}\n`);
  writeFileSync(source, text);
  writeFileSync(manifest, `${JSON.stringify({ ...rest, bundled }, null, 2)}\n`);
}

/** After a `npm pack` that was interrupted, `git checkout package.json` does the same. */
function restore() {
  if (!existsSync(source)) return;
  writeFileSync(manifest, readFileSync(source));
  rmSync(source);
}
