import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";

import { minuteMs, secondMs } from "../../../src/base/time.ts";
import { freePort } from "../../support/free-port.ts";
import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import { eventually, readText } from "../../support/program/program.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
// Of a storage that holds the base image, node:24-slim: nothing is pulled.
const storage = process.env["FLATLINE_TEST_CONTAINERS_STORAGE_CONF"] ?? "";
const reason =
  storage === "" ? " (skipped: FLATLINE_TEST_CONTAINERS_STORAGE_CONF names no storage with the base image)" : "";
const image = "localhost/flatline:test";
const container = `flatline-test-${process.pid}`;
const mebibyte = 1_024 ** 2;

const config = `
source: { type: embedded }
organizations: [acme]
server: { token: a-token-of-the-tests }
storage: { path: flatline.db }
`;

/** What podman needs on a small machine without a network of its own. */
const asHere = [
  "--detach",
  "--runtime=runc",
  "--network=host",
  // Podman's own defaults are above the hard limits of small machines.
  "--ulimit=nofile=1024:1024",
  "--ulimit=nproc=1024:1024",
  // As Docker does it.
  "--read-only-tmpfs=false",
];

interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(command: string, args: readonly string[], timeoutMs = minuteMs): Promise<Ran> {
  const env = { ...process.env, CONTAINERS_STORAGE_CONF: storage };
  return new Promise((resolve) => {
    execFile(
      command,
      args,
      { cwd: root, env, timeout: timeoutMs, maxBuffer: 64 * mebibyte },
      (error, stdout, stderr) => {
        const exitCode = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
        resolve({ exitCode, stdout, stderr });
      },
    );
  });
}

async function runOrThrow(command: string, args: readonly string[], timeoutMs?: number): Promise<string> {
  const { exitCode, stdout, stderr } = await run(command, args, timeoutMs);
  if (exitCode !== 0) throw new Error(`${command} ${args.join(" ")}: exit ${exitCode}\n${stdout}\n${stderr}`);
  return stdout;
}

async function inside(...command: readonly string[]): Promise<Ran> {
  return run("podman", ["exec", container, ...command]);
}

async function inspect(kind: "image" | "container", name: string, format: string): Promise<string> {
  return (await runOrThrow("podman", [kind, "inspect", "--format", format, name])).trim();
}

let folder: ProgramFolder;
let url: string;

beforeAll(async () => {
  if (storage === "") return;
  await runOrThrow("scripts/build-image.sh", [image], 15 * minuteMs);
  folder = await makeProgramFolder(config);
  // The container's user is not the one who runs the tests.
  await runOrThrow("chmod", ["-R", "a+rX", folder.path]);
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  await runOrThrow("podman", [
    "run",
    `--name=${container}`,
    ...asHere,
    "--read-only",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    `--volume=${folder.path}/flatline.yaml:/etc/flatline/flatline.yaml:ro`,
    `--env=FLATLINE_LISTEN=127.0.0.1:${port}`,
    image,
  ]);
}, 16 * minuteMs);
afterAll(async () => {
  if (storage === "") return;
  await run("podman", ["rm", "--force", "--volumes", "--time", "0", container]);
  await run("podman", ["rmi", "--force", image]);
  await folder[Symbol.asyncDispose]();
});

describe.skipIf(storage === "")(`the image${reason}`, { timeout: minuteMs }, () => {
  it("becomes healthy by its own health check", async () => {
    await eventually(
      async () => (await run("podman", ["healthcheck", "run", container])).exitCode === 0,
      30 * secondMs,
    );

    expect(await inspect("container", container, "{{.State.Health.Status}}")).toBe("healthy");
    expect(JSON.parse(await readText(`${url}/-/ready`))).toEqual({ status: "ok" });
  });

  it("checks, and serves its metrics", async () => {
    const metrics = await eventually(async () => {
      const text = await readText(`${url}/metrics`);
      return text.includes("flatline_check_severity{") ? text : null;
    });

    // No event was ever stored: nothing seen is not ok.
    expect(metrics).toContain('flatline_check_severity{check="dead-asset-spike",slug="acme",severity="unknown"} 1');
  });

  it("runs as nobody special: not root, no capabilities, none to be had", async () => {
    const status = (await inside("cat", "/proc/1/status")).stdout;

    expect(status).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m);
    expect(status).toMatch(/^CapEff:\t0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
  });

  it("needs no root file system to write to, only its volume", async () => {
    const outside = await inside("touch", "/app/written");
    const data = await inside("sh", "-c", "ls /data && touch /data/written");

    expect(outside.stderr).toContain("Read-only file system");
    expect(data).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("flatline.db") as string });
  });

  it("holds the program with what it needs, and nothing else", async () => {
    const { stdout } = await inside("ls", "/app");

    expect(stdout.trim().split("\n")).toEqual(["LICENSE", "bin", "dist", "package.json"]);
  });

  it("adds little to its base", async () => {
    const size = Number(await inspect("image", image, "{{.Size}}"));
    const base = Number(await inspect("image", "docker.io/library/node:24-slim", "{{.Size}}"));
    process.stderr.write(
      `image: ${Math.round(size / mebibyte)} MiB, ${Math.round((size - base) / mebibyte)} above its base\n`,
    );

    expect(size - base).toBeLessThan(20 * mebibyte);
  });

  it("says what it needs to those that run it", async () => {
    const settings = JSON.parse(await inspect("image", image, "{{json .Config}}")) as Record<string, unknown>;

    expect(settings).toMatchObject({
      User: "node",
      Volumes: { "/data": {} },
      ExposedPorts: { "9640/tcp": {} },
      StopSignal: "SIGTERM",
      WorkingDir: "/data",
      Entrypoint: ["flatline"],
      Cmd: ["run"],
    });
    expect(settings["Env"]).toContain("FLATLINE_LISTEN=0.0.0.0:9640");
  });

  it("ends with 0 on SIGTERM", async () => {
    await runOrThrow("podman", ["kill", "--signal", "TERM", container]);
    const exitCode = (await runOrThrow("podman", ["wait", container])).trim();

    const { stdout, stderr } = await run("podman", ["logs", container]);
    expect(exitCode).toBe("0");
    expect(stdout + stderr).toContain("flatline stopped");
  });
});

describe.skipIf(storage === "")(`the README's docker run${reason}`, { timeout: minuteMs }, () => {
  it("runs the configuration beside it", async () => {
    const readme = await readFile(`${root}README.md`, "utf8");
    const [, command = ""] = /```sh\ndocker build [^\n]*\n(docker run [^`]+)```/.exec(readme) ?? [];
    const [, yaml = ""] = /<<'END'\n([^]+?\n)END\n/.exec(readme) ?? [];
    await using place = await makeProgramFolder(yaml);
    await runOrThrow("chmod", ["-R", "a+rX", place.path]);
    const name = `${container}-readme`;
    const port = await freePort();
    // Another program, port and volume; every other flag is the README's.
    const here = command
      .replace(/^docker run/, `podman run --name=${name} ${asHere.join(" ")} --env=FLATLINE_LISTEN=127.0.0.1:${port}`)
      .replace(" -p 127.0.0.1:9640:9640", "")
      .replace(" -v flatline:/data", ` -v ${name}:/data`)
      .replace(/ flatline\n$/, ` ${image}\n`);
    const shell = {
      FLATLINE_API_KEY: "a-key",
      FLATLINE_TOKEN: "a-token-of-the-tests",
      SLACK_WEBHOOK_URL: "https://hooks.slack.com/services/a",
    };
    onTestFinished(async () => {
      await run("podman", ["rm", "--force", "--time", "0", name]);
      await run("podman", ["volume", "rm", "--force", name]);
    });

    await runOrThrow("env", [
      `--chdir=${place.path}`,
      ...Object.entries(shell).map((entry) => entry.join("=")),
      "bash",
      "-c",
      here,
    ]);
    const ready = await eventually(async () => {
      const state = await inspect("container", name, "{{.State.Status}} {{.State.ExitCode}}");
      if (state.startsWith("exited")) throw new Error(`${state}: ${(await run("podman", ["logs", name])).stderr}`);
      const answer = await fetch(`http://127.0.0.1:${port}/-/ready`).catch(() => null);
      return answer?.ok === true ? await answer.json() : null;
    }, 30 * secondMs);

    expect(ready).toEqual({ status: "ok" });
    expect((await run("podman", ["exec", name, "ls", "/data/data"])).stdout).toContain("flatline.db");
  });
});
