import { spawnSync, type SpawnSyncReturns } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const isLong = process.env["FLATLINE_TEST_LONG"] === "1";

/** What may be in the package: what runs, the types that the two entries need, and what one reads or starts with. */
const allowed = [
  /^(?:package\.json|README\.md|LICENSE|CHANGELOG\.md|config\.example\.yaml|flatline\.schema\.json)$/,
  /^bin\/flatline\.js$/,
  /^examples\/(?:(?:records\/)?(?:README\.md|[a-z-]+\.csv\.gz)|fixture\.yaml|records\/labels\.json)$/,
  /^dist\/[\w/-]+\.js$/,
  /^dist\/(?:spike|client|contract|base)\/[\w-]+\.d\.ts$/,
  /^dist\/program\/THIRD-PARTY-LICENSES\.txt$/,
  // What the page is made of.
  /^dist\/web\/[\w/.-]+\.(?:css|svg|png|ico)$/,
];
const forbidden = /\.test\.|testdata|goldens|\.map$|(?:^|\/)src\//;

let folder: string;
let tarball: string;
let packed: { readonly files: readonly { readonly path: string }[]; readonly size: number };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-package-"));
  const { status, stdout, stderr } = run(
    "npm",
    ["pack", "--ignore-scripts", "--json", "--pack-destination", folder],
    root,
  );
  if (status !== 0) throw new Error(stderr);
  const [first] = JSON.parse(stdout) as (typeof packed & { readonly filename: string })[];
  if (first === undefined) throw new Error("npm pack made nothing");
  packed = first;
  tarball = join(folder, first.filename);
  await installOffline();
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Unpacks the tarball into `node_modules` of an empty folder, beside what it depends on: as npm does, without a network. */
async function installOffline(): Promise<void> {
  const place = join(folder, "node_modules/flatline");
  await mkdir(place, { recursive: true });
  run("tar", ["-xzf", tarball, "--strip-components=1", "-C", place], folder);
  const { packages } = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly optional?: boolean }>>;
  };
  const needed = Object.entries(packages).filter(
    ([path, { dev, optional }]) => /^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(path) && !dev && !optional,
  );
  // Types of Node.js are what whoever type-checks against flatline has.
  for (const path of [...needed.map(([path]) => path), "node_modules/@types/node", "node_modules/undici-types"]) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await symlink(join(root, path), join(folder, path));
  }
}

function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): SpawnSyncReturns<string> {
  return spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    timeout: 180_000,
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...env },
  });
}

describe("the package", () => {
  it("holds what runs, and nothing else", () => {
    const paths = packed.files.map(({ path }) => path);

    expect(paths.filter((path) => forbidden.test(path) || !allowed.some((pattern) => pattern.test(path)))).toEqual([]);
    expect(paths).toEqual(
      expect.arrayContaining([
        "bin/flatline.js",
        "dist/cli/main.js",
        "dist/program/main.js",
        "dist/program/THIRD-PARTY-LICENSES.txt",
        "dist/spike/spike.d.ts",
        "dist/client/client.d.ts",
      ]),
    );
    // More than half of it is the program with its libraries; much more would be something that slipped in.
    expect(packed.size).toBeLessThan(2_200_000);
  });

  it("is clean for publint", async () => {
    const pkgDir = join(folder, "node_modules/flatline");
    const manifest = JSON.parse(await readFile(join(pkgDir, "package.json"), "utf8")) as Record<string, unknown>;

    const { messages } = await publint({ pkgDir, strict: true, pack: false });

    expect(messages.map((message) => formatMessage(message, manifest))).toEqual([]);
  });

  it("is clean for arethetypeswrong, as a package of modules for Node.js and bundlers", async () => {
    const analysis = await checkPackage(createPackageFromTarballData(await readFile(tarball)));
    if (analysis.types === false) throw new Error("the package has no types");

    const entries = Object.keys(analysis.entrypoints);
    // Node 10 reads no exports, and what requires it there gets an ES module: both are older than flatline's Node.js.
    const problems = analysis.problems.filter(
      (problem) => !("resolutionKind" in problem) || !/^node10$|^node16-cjs$/.test(problem.resolutionKind),
    );

    expect(entries.toSorted()).toEqual(["./client", "./package.json", "./spike"]);
    expect(problems).toEqual([]);
  });

  it("has entries that work and type-check, by the strictest settings", async () => {
    await writeFile(join(folder, "consumer.ts"), consumer);
    await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      module: "nodenext",
      target: "es2024",
      types: ["node"],
      rootDir: ".",
      outDir: "out",
      skipLibCheck: true,
      preserveSymlinks: true,
    };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["consumer.ts"] }));

    const checked = run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "."], folder);
    const ran = run(process.execPath, ["out/consumer.js"], folder);

    expect([checked.status, checked.stdout]).toEqual([0, ""]);
    expect([ran.status, ran.stderr, ran.stdout]).toEqual([0, "", "fail api_network\n"]);
  });

  it("has types for what it exports, and no other entry", async () => {
    await writeFile(join(folder, "wrong.mjs"), 'await import("flatline/dist/app/app.js");\n');

    const { status, stderr } = run(process.execPath, ["wrong.mjs"], folder);

    expect([status, stderr]).toEqual([1, expect.stringContaining("ERR_PACKAGE_PATH_NOT_EXPORTED")]);
  });

  it("runs: --version, and check over its own example", async () => {
    const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { readonly version: string };
    const flatline = join(folder, "node_modules/flatline/bin/flatline.js");
    const config = "node_modules/flatline/config.example.yaml";

    const versionRun = run(process.execPath, [flatline, "--version"], folder);
    const checkRun = run(process.execPath, [flatline, "check", "-c", config, "--json"], folder);

    expect([versionRun.status, versionRun.stdout]).toEqual([0, `${version}\n`]);
    expect(checkRun.status, checkRun.stderr).toBe(2);
    expect(JSON.parse(checkRun.stdout)).toMatchObject([
      { slug: "ads-hosts", severity: "fail" },
      { slug: "adware-hosts", severity: "warn" },
      { slug: "risk-hosts", severity: "ok" },
      { slug: "risk-hosts-median", severity: "fail" },
      { slug: "tracker-hosts", severity: "ok" },
    ]);
  });
});

/** As a newcomer does it; asks npm's registry, so it is a long test. */
describe.skipIf(!isLong)(
  `npm install flatline node@24${isLong ? "" : " (skipped: needs npm's registry; npm run test:long)"}`,
  () => {
    it("works in an empty folder, whatever Node.js the machine has", async () => {
      // Outside of `folder`: npm looks for a package.json upwards, and would install into what is linked there.
      const place = await mkdtemp(join(tmpdir(), "flatline-newcomer-"));
      onTestFinished(() => rm(place, { recursive: true, force: true }));
      await cp(tarball, join(place, "flatline.tgz"));
      // Without the project's own node@24 on the PATH.
      const path = (process.env["PATH"] ?? "").split(":").filter((entry) => !entry.includes("node_modules"));
      const env = { PATH: path.join(":") };

      const installed = run("npm", ["install", "--no-audit", "--no-fund", "./flatline.tgz", "node@24"], place, env);
      const version = run("npx", ["flatline", "--version"], place, env);
      const check = run("npx", ["flatline", "check", "-c", "node_modules/flatline/config.example.yaml"], place, env);

      expect(installed.status, installed.stderr).toBe(0);
      expect([version.status, version.stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
      expect([check.status, check.stdout]).toEqual([2, expect.stringContaining("ads-hosts")]);
    }, 300_000);
  },
);

const consumer = `import { evaluateSpike, type SpikeResult } from "flatline/spike";
import { createClient, FlatlineError, type Client, type HealthcheckResult } from "flatline/client";

const result: SpikeResult = evaluateSpike({
  slug: "acme",
  nowMs: Date.UTC(2026, 0, 15),
  currentCount: 5119,
  baselineCount: 78,
});
const severity: "ok" | "warn" | "fail" = result.severity;

const client: Client = createClient({ baseUrl: "http://127.0.0.1:1/api/v2", apiKey: "key", retries: 0 });
try {
  const answer: HealthcheckResult = await client.deadAssetSpike({ slug: "acme", ...{ windowHours: 24, baselineDays: 7, warnMultiplier: 2, failMultiplier: 4, minSpikeCount: 10 } });
  console.log(severity, answer.severity);
} catch (error) {
  if (!(error instanceof FlatlineError)) throw error;
  console.log(severity, error.code);
} finally {
  await client.close();
}
`;
