import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { secondMs } from "../../../src/base/time.ts";
import { parseExposition } from "../../support/exposition-parser.ts";
import { freePort } from "../../support/free-port.ts";
import {
  eventually,
  promtool,
  readText,
  runProgram,
  startProgram,
  stopProgram,
  type Program,
} from "../../support/program/program.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

const readers = { authorization: "Bearer example-token" };

const config = ["-c", "config.example.yaml"];

/** The example as it is, but for the port, in a folder of its own with what it reads beside it. */
let folder: string;
let program: Program;
let url: string;

/** What the page tells of the incident, by its API. */
interface Told {
  readonly organizations: number;
  readonly family: string;
  readonly likelyCause: string;
  readonly carriers: readonly { readonly key: string; readonly value: string; readonly share: number }[];
  readonly fleet: { readonly together: number } | null;
}

/** Which severity each organization has, by the series that is 1. */
async function severities(): Promise<Record<string, string>> {
  const samples = parseExposition(await readText(`${url}/metrics`)).get("flatline_check_severity")?.samples ?? [];
  return Object.fromEntries(
    samples.filter(({ value }) => value === 1).map(({ labels }) => [labels["slug"] ?? "", labels["severity"] ?? ""]),
  );
}

async function readJson(path: string): Promise<unknown> {
  const response = await fetch(`${url}${path}`, { headers: readers });
  expect(response.status).toBe(200);
  return response.json();
}

/** The two commands of `npm start`. */
async function start(): Promise<void> {
  execFileSync(process.execPath, [join(folder, "scripts/clean-example.js")]);
  program = startProgram(["run", "-c", "config.example.yaml"], { cwd: folder });
  url = String((await program.untilLogged("flatline started"))["url"]);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-first-start-"));
  await symlink(join(root, "examples"), join(folder, "examples"));
  await mkdir(join(folder, "scripts"));
  const port = String(await freePort());
  for (const name of ["config.example.yaml", "scripts/clean-example.js"]) {
    const text = await readFile(join(root, name), "utf8");
    await writeFile(join(folder, name), text.replace("9640", port));
  }
});
afterAll(async () => {
  await program.kill();
  await rm(folder, { recursive: true });
});

describe.each(["the first start", "a second start"])("%s", () => {
  beforeAll(start);

  it("has an organization that is ok, one that warns and one that fails within seconds", async () => {
    const found = await eventually(async () => {
      const all = await severities();
      return new Set(Object.values(all)).size === 3 ? all : null;
    });

    expect(found).toMatchObject({ "adware-hosts": "warn", "risk-hosts": "fail", "tracker-hosts": "ok" });
  });

  it("opens one incident of at least three organizations within a minute, with its cause, while one stays ok", async () => {
    const incidents = await eventually(async () => {
      const { incidents: open } = (await readJson("/api/v1/incidents")) as { incidents: readonly Told[] };
      return open.some(({ organizations }) => organizations === 4) ? open : null;
    }, 60 * secondMs);

    expect(incidents).toMatchObject([
      {
        family: "deaths",
        likelyCause: "checker",
        fleet: { together: expect.toSatisfy((together: number) => together >= 3) },
        carriers: [{ key: "reason", value: "captcha_page", share: expect.toSatisfy((share: number) => share > 0.8) }],
      },
    ]);
    expect((await severities())["tracker-hosts"]).toBe("ok");
  });

  it("gives the incident a second opinion, and says that it is of recorded answers", async () => {
    const opinion = await eventually(async () => {
      const { secondOpinion } = (await readJson("/api/v1/incidents/1")) as {
        secondOpinion: { verdict: string; finding: string; asked: number } | null;
      };
      return secondOpinion?.verdict === "refuted" ? secondOpinion : null;
    }, 60 * secondMs);

    expect(opinion.finding).toMatch(/^\d+ of \d+ still answer \(by recorded answers\)$/);
    expect(await (await fetch(`${url}/incidents/1`)).text()).toContain("By recorded answers, nobody looked.");
    const checked = await runProgram(["config", "check", ...config], { cwd: folder });
    expect(checked.stdout).toMatch(
      /a second opinion contacts nobody: \S+recorded-answers\.json\.gz has recorded answers/,
    );
  });

  it("ends as that night did", async () => {
    const ended = {
      "adware-hosts": 131,
      "ads-hosts": 2_012,
      "popup-hosts": 1_047,
      "risk-hosts": 89,
      "tracker-hosts": 7,
    };

    const counts = async (): Promise<Record<string, number>> =>
      Object.fromEntries(
        (parseExposition(await readText(`${url}/metrics`)).get("flatline_check_deaths")?.samples ?? []).map(
          ({ labels, value }) => [labels["slug"] ?? "", value],
        ),
      );
    await expect.poll(counts).toEqual(ended);
    expect(await severities()).toEqual({
      "ads-hosts": "fail",
      "adware-hosts": "warn",
      "popup-hosts": "fail",
      "risk-hosts": "fail",
      "tracker-hosts": "ok",
    });
  });

  it("writes the delivered notifications, with their severities, into the log", () => {
    const told = program.log().filter(({ msg, event }) => msg === "alert firing" && event === "firing");

    // A run may see ads-hosts on its way, as a warn.
    const levels = { warn: "warn", fail: "error" } as const;
    expect(told.map(({ slug, severity, level }) => ({ slug, severity, level }))).toEqual(
      expect.arrayContaining([
        { slug: "adware-hosts", severity: "warn", level: "warn" },
        { slug: "risk-hosts", severity: "fail", level: "error" },
      ]),
    );
    for (const { severity, level } of told) expect(level).toBe(levels[severity as keyof typeof levels]);
    expect(told.map(({ slug }) => slug)).toContain("ads-hosts");
  });

  it.skipIf(promtool.skipReason !== null)(`leaves promtool nothing to say`, async () => {
    expect(promtool.complaints(await readText(`${url}/metrics`))).toBe("");
  });

  it("says only what is no trouble, and stops", async () => {
    const said = program.log().filter(({ level, receiver }) => level !== "info" && receiver === undefined);
    const end = await stopProgram(program);

    expect(said).toEqual([]);
    expect(end).toMatchObject({ exitCode: 0, stdout: "" });
  });
});
