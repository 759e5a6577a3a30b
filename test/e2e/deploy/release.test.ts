import { spawnSync, type SpawnSyncReturns } from "node:child_process";
import { globSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";

import { at, helm, parseManifests, runHelm } from "../../kubernetes/helm.ts";
import { installTarball } from "../../support/program/installed-package.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const read = (path: string): Promise<string> => readFile(join(root, path), "utf8");
const { version } = JSON.parse(await read("package.json")) as { readonly version: string };
const tarball = `flatline-${version}.tgz`;

let top: string;
let out: string;
/** The package, as whoever downloads the release has it. */
let installed: string;
let dryRun: SpawnSyncReturns<string>;

function release(...args: readonly string[]): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, ["scripts/release.ts", ...args], { cwd: root, encoding: "utf8" });
}

beforeAll(async () => {
  top = await mkdtemp(join(tmpdir(), "flatline-release-"));
  out = join(top, "files");
  dryRun = release("--no-image", "--out", out, "--repository", "Example/Flatline");
  installed = await installTarball(join(out, tarball), top);
});
afterAll(() => rm(top, { recursive: true, force: true }));

describe("the dry run of a release", () => {
  it("makes the package, its bill of materials, the chart where Helm is, and their checksums", async () => {
    const chart = helm.isMissing ? [] : [`flatline-chart-${version}.tgz`];

    expect([dryRun.status, dryRun.stderr]).toEqual([0, ""]);
    expect((await readdir(out)).toSorted()).toEqual(
      ["SHA256SUMS", `flatline-${version}.cdx.json`, tarball, ...chart].toSorted(),
    );
    for (const file of await readdir(out)) expect(dryRun.stdout).toContain(`${file}: `);
  });

  it.skipIf(helm.isMissing)(`makes a chart of the image that is published${helm.note}`, async () => {
    const values = JSON.stringify({ config: { source: { type: "embedded" }, organizations: ["acme"] } });

    const { stdout } = runHelm(["template", "a", join(out, `flatline-chart-${version}.tgz`), "--values=-"], values);

    const deployment = parseManifests(stdout).find(({ kind }) => kind === "Deployment");
    expect(at(deployment, "spec/template/spec/containers/0/image")).toBe(`ghcr.io/example/flatline:${version}`);
    const packed = runHelm(["show", "values", join(out, `flatline-chart-${version}.tgz`)], "");
    expect(packed.stdout).toContain(
      `runbooks: https://github.com/Example/Flatline/blob/v${version}/docs/runbooks.md\n`,
    );
  });

  it("refuses a tag of another version, and one that the changelog knows nothing of", () => {
    const { status, stderr } = release("--no-image", "--out", join(top, "refused"), "--tag", "v9.9.9");

    expect(status).toBe(1);
    expect(stderr).toContain(`release: package.json has ${version}, the tag is v9.9.9\n`);
    expect(stderr).toContain(`release: CHANGELOG.md has no section "## 9.9.9"`);
  });
});

describe("the bill of materials", () => {
  const sbomSchema = z.looseObject({
    bomFormat: z.literal("CycloneDX"),
    components: z.array(
      z.looseObject({
        name: z.string(),
        version: z.string(),
        purl: z.string().startsWith("pkg:npm/"),
        hashes: z.array(z.looseObject({ alg: z.literal("SHA-512"), content: z.string().length(128) })).min(1),
      }),
    ),
  });
  let sbom: z.infer<typeof sbomSchema>;
  beforeAll(async () => {
    sbom = sbomSchema.parse(JSON.parse(await readFile(join(out, `flatline-${version}.cdx.json`), "utf8")));
  });
  const listed = (): string[] => sbom.components.map(({ name, version }) => `${name}@${version}`).toSorted();

  /** By the source maps of the installed program, the folders whose code is in it. */
  async function bundled(): Promise<string[]> {
    const program = join(installed, "node_modules/flatline/dist/program");
    const maps = await Promise.all(
      globSync("*.js.map", { cwd: program }).map(
        async (file) => JSON.parse(await readFile(join(program, file), "utf8")) as { readonly sources: string[] },
      ),
    );
    const folders = maps.flatMap(({ sources }) =>
      sources.flatMap((source) => /node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(source)?.[0] ?? []),
    );
    return Promise.all(
      [...new Set(folders)].map(async (folder) => {
        const manifest = JSON.parse(await read(`${folder}/package.json`)) as { readonly name: string; version: string };
        return `${manifest.name}@${manifest.version}`;
      }),
    );
  }

  it("lists what the source maps of the program name, and what the pages load", async () => {
    const htmx = JSON.parse(await read("node_modules/htmx.org/package.json")) as { readonly version: string };

    expect(listed()).toEqual(expect.arrayContaining([...(await bundled()), `htmx.org@${htmx.version}`]));
    expect(listed().length).toBeGreaterThan(50);
  });

  it("lists what the licences in the package are of", async () => {
    const text = await readFile(join(installed, "node_modules/flatline/dist/program/THIRD-PARTY-LICENSES.txt"), "utf8");
    const heads = [...`${"-".repeat(80)}\n\n${text}`.matchAll(/^-{80}\n\n(\S+) (\S+)\n/gm)];

    expect(listed()).toEqual(expect.arrayContaining(heads.map(([, name, own]) => `${name}@${own}`)));
  });
});

describe("the release workflow", async () => {
  const workflow = z.object({
    permissions: z.strictObject({ contents: z.literal("read") }),
    jobs: z.record(
      z.string(),
      z.looseObject({
        permissions: z.record(z.string(), z.string()).optional(),
        uses: z.string().optional(),
      }),
    ),
  });
  const texts = Object.fromEntries(
    await Promise.all(
      ["ci", "release"].map(async (name) => [name, await read(`.github/workflows/${name}.yml`)] as const),
    ),
  );
  const { jobs } = workflow.parse(parse(texts["release"] ?? ""));

  it.each(Object.entries(texts))("names actions by their commits, with their versions beside: %s", (_name, text) => {
    const used = [...text.matchAll(/uses: (.*)$/gm)].map(([, action = ""]) => action);
    const pinned = /^(?:[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\.\/\.github\/workflows\/ci\.yml)$/;

    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((action) => !pinned.test(action))).toEqual([]);
  });

  it("installs nothing whose checksum the lock does not have", async () => {
    for (const path of ["package-lock.json", "test/kubernetes/package-lock.json"]) {
      const { packages } = JSON.parse(await read(path)) as { readonly packages: Readonly<Record<string, object>> };
      const without = Object.entries(packages).filter(([place, entry]) => place !== "" && !("integrity" in entry));

      expect(without.map(([place]) => place)).toEqual([]);
    }
  });

  it("may write only where it publishes, and may sign only there", () => {
    const writing = Object.entries(jobs).flatMap(([name, { permissions = {} }]) =>
      Object.entries(permissions).flatMap(([right, value]) => (value === "write" ? [`${name}: ${right}`] : [])),
    );

    expect(writing.toSorted()).toEqual([
      "image: id-token",
      "image: packages",
      "publish: contents",
      "publish: id-token",
      "publish: packages",
    ]);
    expect(jobs["test"]?.uses).toBe("./.github/workflows/ci.yml");
  });
});
