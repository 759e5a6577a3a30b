import { spawnSync, type SpawnSyncReturns } from "node:child_process";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { minuteMs } from "../../../src/base/time.ts";
import { installPackage, type InstalledPackage } from "../../support/program/installed-package.ts";
import { eventually, readText, runProgram, startDaemon, type ProgramOptions } from "../../support/program/program.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** What may be in the package: what runs, the types that the two entries need, and what one reads or starts with. */
const allowed = [
  /^(?:package\.json|README\.md|LICENSE|CHANGELOG\.md|config\.example\.yaml|flatline\.schema\.json)$/,
  /^bin\/flatline\.js$/,
  /^examples\/(?:(?:records\/)?(?:README\.md|[a-z-]+\.csv\.gz)|fixture\.yaml|recorded-answers\.json\.gz|records\/labels\.json|(?:receivers|events|verifier)\/(?:README\.md|[a-z-]+\.(?:yaml|mjs)))$/,
  /^dist\/program\/(?:[\w.-]+\.js(?:\.map)?|package\.json|sbom\.cdx\.json|THIRD-PARTY-LICENSES\.txt)$/,
  /^dist\/types\/(?:(?:spike|client|contract|base)\/[\w-]+\.d\.ts|package\.json)$/,
  // What the page is made of.
  /^dist\/web\/[\w/.-]+\.(?:js|css|svg|json)(?:\.gz)?$/,
];
const forbidden = /\.test\.|testdata|goldens|(?:^|\/)src\//;

let installed: InstalledPackage;
let folder: string;

beforeAll(async () => {
  installed = await installPackage();
  ({ folder } = installed);
}, 60_000);

afterAll(() => installed[Symbol.asyncDispose]());

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
    const { files, tarballBytes } = installed;

    expect(files.filter((path) => forbidden.test(path) || !allowed.some((pattern) => pattern.test(path)))).toEqual([]);
    expect(files).toEqual(
      expect.arrayContaining(["bin/flatline.js", "dist/program/main.js", "dist/program/THIRD-PARTY-LICENSES.txt"]),
    );
    // Nearly all of it is the program with its libraries; much more would be something that slipped in.
    expect(tarballBytes).toBeLessThan(3_200_000);
  });

  it("needs nothing beside it: its libraries are inside, and are not installed again", async () => {
    const beside = (await readdir(join(folder, "node_modules"))).filter((name) => !name.startsWith("."));
    const program = await readdir(join(folder, "node_modules/flatline/dist/program"));
    const licences = await readFile(
      join(folder, "node_modules/flatline/dist/program/THIRD-PARTY-LICENSES.txt"),
      "utf8",
    );

    expect(beside).toEqual(["flatline"]);
    expect(program.filter((name) => name === "main.js")).toHaveLength(1);
    for (const name of ["croner", "undici", "prom-client", "pino", "zod", "yaml"])
      expect(licences).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+$`, "m"));
  });

  it("loads the libraries of requests, mail and templates with the first use", async () => {
    const program = join(folder, "node_modules/flatline/dist/program");
    const textOf = (name: string): Promise<string> => readFile(join(program, name), "utf8");
    const loaded = new Set(["main.js", "run.js"]);
    for (const name of loaded)
      for (const [, next = ""] of (await textOf(name)).matchAll(/^(?:const \w+ = )?require\("\.\/(.+\.js)"\)/gm))
        loaded.add(next);

    expect([...loaded]).toContain("app.js");
    for (const name of ["undici.js", "nodemailer.js", "template.js"]) {
      expect(await readdir(program)).toContain(name);
      expect([...loaded]).not.toContain(name);
    }
  });

  it("is text of one byte per character, of which V8 keeps one byte per character", async () => {
    const program = join(folder, "node_modules/flatline/dist/program");
    const names = (await readdir(program)).filter((name) => name.endsWith(".js"));

    for (const name of names) expect(await readFile(join(program, name), "utf8"), name).not.toMatch(/[^\0-\xff]/);
  });

  it("names what is inside, and nothing that npm would fetch, run or warn of", async () => {
    const manifest = await readFile(join(folder, "node_modules/flatline/package.json"), "utf8");
    const { scripts, dependencies, devDependencies, bundled } = JSON.parse(manifest) as Record<string, unknown>;

    expect([scripts, dependencies, devDependencies]).toEqual([undefined, undefined, undefined]);
    expect(bundled).toEqual(
      expect.arrayContaining([expect.stringMatching(/^fastify@\d/), expect.stringMatching(/^zod@\d/)]),
    );
    expect(JSON.parse(await readFile(join(root, "package.json"), "utf8"))).toHaveProperty("dependencies.fastify");
  });

  it("is clean for publint", async () => {
    const pkgDir = join(folder, "node_modules/flatline");
    const manifest = JSON.parse(await readFile(join(pkgDir, "package.json"), "utf8")) as Record<string, unknown>;

    const { messages } = await publint({ pkgDir, strict: true, pack: false });

    expect(messages.map((message) => formatMessage(message, manifest))).toEqual([]);
  });

  it("has entries that work and type-check, by the strictest settings", async () => {
    await writeFile(join(folder, "consumer.ts"), consumer);
    // Whoever type-checks against flatline has those of Node.js.
    await mkdir(join(folder, "node_modules/@types"));
    for (const name of ["@types/node", "undici-types"])
      await symlink(join(root, "node_modules", name), join(folder, "node_modules", name));
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      module: "nodenext",
      target: "es2024",
      types: ["node"],
      rootDir: ".",
      outDir: "out",
      skipLibCheck: false,
      preserveSymlinks: true,
    };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["consumer.ts"] }));

    const checked = run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "."], folder);
    const ran = run(process.execPath, ["out/consumer.js"], folder);

    expect([checked.status, checked.stdout]).toEqual([0, ""]);
    expect([ran.status, ran.stderr, ran.stdout]).toEqual([0, "", "fail api_network\n"]);
  });

  it("says its version, and checks its own example", async () => {
    const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { readonly version: string };
    const config = "node_modules/flatline/config.example.yaml";

    const versionRun = await runInstalled(["--version"]);
    const at = new Date(Date.now() + minuteMs).toISOString();
    const checkRun = await runInstalled(["check", "-c", config, "--at", at, "--json"]);

    expect(versionRun).toMatchObject({ exitCode: 0, stdout: `${version}\n`, stderr: "" });
    expect(checkRun.exitCode, checkRun.stderr).toBe(2);
    expect(JSON.parse(checkRun.stdout)).toMatchObject([
      { slug: "ads-hosts", severity: "fail" },
      { slug: "adware-hosts", severity: "warn" },
      { slug: "popup-hosts", severity: "fail" },
      { slug: "risk-hosts", severity: "fail" },
      { slug: "tracker-hosts", severity: "ok" },
    ]);
  });
});

function optionsOf(env: Readonly<Record<string, string>> = {}): ProgramOptions {
  return { cwd: folder, env, entry: join(folder, "node_modules/.bin/flatline") };
}

const runInstalled = (args: readonly string[], env?: Readonly<Record<string, string>>) =>
  runProgram(args, optionsOf(env));

describe("the installed program", () => {
  beforeAll(() =>
    writeFile(
      join(folder, "flatline.yaml"),
      `source: { type: embedded }
organizations: [acme]
receivers: [{ name: console, type: log }]
server: { listen: "127.0.0.1:0", token: a-token-of-the-tests }
storage: { path: flatline.db }
`,
    ),
  );

  it("runs until it is asked to stop: page, metrics, events, checks", async () => {
    await using daemon = await startDaemon([], optionsOf());
    const authorization = "Bearer a-token-of-the-tests";

    const page = await readText(`${daemon.url}/`);
    const assets = [...page.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path = ""]) => path);
    const posted = await fetch(`${daemon.url}/api/v1/events`, {
      method: "POST",
      headers: { authorization, "content-type": "application/x-ndjson" },
      body: JSON.stringify({ at: Date.now(), slug: "acme" }),
    });
    const metrics = await eventually(async () => {
      const text = await readText(`${daemon.url}/metrics`);
      return text.includes('flatline_check_up{check="dead-asset-spike",slug="acme"}') ? text : null;
    });
    daemon.signal("SIGTERM");
    const { exitCode, stderr } = await daemon.ended();

    expect(assets.length).toBeGreaterThan(2);
    expect([posted.status, await posted.json()]).toEqual([
      200,
      { received: 1, stored: 1, duplicates: 0, conflicts: 0 },
    ]);
    expect(metrics).toContain("flatline_build_info{");
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining("flatline stopped")]);
  });
});

describe("a bug in the installed program", () => {
  // A part of Node.js that fails as no program expects.
  const broken = `--import=data:text/javascript,Date.prototype.toISOString=function(){throw%20new%20TypeError(%27broken%27)}`;

  it("is one line and a hint", async () => {
    const { exitCode, stderr } = await runInstalled(["config", "schedule"], { NODE_OPTIONS: broken });

    expect(exitCode).toBe(70);
    expect(stderr).toBe("flatline: broken\n  this is a bug in flatline; set FLATLINE_DEBUG=1 to see where\n");
  });

  it("has a stack with the names of the source when FLATLINE_DEBUG is set", async () => {
    const env = { NODE_OPTIONS: broken, FLATLINE_DEBUG: "1" };

    const { exitCode, stderr } = await runInstalled(["config", "schedule"], env);

    expect(exitCode).toBe(70);
    expect(stderr).toMatch(/^flatline: broken\nTypeError: broken\n/);
    expect(stderr).toMatch(/\/src\/cli\/config\.ts:\d+:\d+/);
  });
});

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
