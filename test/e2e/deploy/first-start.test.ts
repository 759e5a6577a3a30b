import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";

import { parseExposition } from "../../support/exposition-parser.ts";
import {
  eventually,
  promtool,
  readText,
  runProgram,
  startProgram,
  type Program,
} from "../../support/program/program.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const example = await readFile(join(root, "config.example.yaml"), "utf8");

/** The example as it is, but for the port, in a folder of its own with the sample beside it. */
let folder: string;
let program: Program;
let url: string;
let metrics: string;

/** Which severity each organization has, by the series that is 1. */
function severities(exposition: string): Record<string, string> {
  const samples = parseExposition(exposition, "text").get("flatline_check_severity")?.samples ?? [];
  return Object.fromEntries(
    samples.filter(({ value }) => value === 1).map(({ labels }) => [labels["slug"] ?? "", labels["severity"] ?? ""]),
  );
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-first-start-"));
  await symlink(join(root, "examples"), join(folder, "examples"));
  await writeFile(join(folder, "flatline.yaml"), example.replace("127.0.0.1:9640", "127.0.0.1:0"));
  program = startProgram(["run", "-c", "flatline.yaml"], { cwd: folder });
  url = String((await program.untilLogged("flatline started"))["url"]);
  metrics = await eventually(async () => {
    const text = await readText(`${url}/metrics`);
    return Object.keys(severities(text)).length === 5 ? text : null;
  });
  await program.untilLogged("alert firing", { slug: "ads-hosts", receiver: "console" });
  await program.untilLogged("alert firing", { slug: "adware-hosts", receiver: "console" });
  await program.untilLogged("alert firing", { slug: "risk-hosts-median", receiver: "console" });
});
afterAll(async () => {
  await program.kill();
  await rm(folder, { recursive: true });
});

describe("the first start", () => {
  it("shows fail, warn and ok of real events, and what the mean hides and the median shows", () => {
    expect(severities(metrics)).toEqual({
      "ads-hosts": "fail",
      "adware-hosts": "warn",
      "risk-hosts": "ok",
      "risk-hosts-median": "fail",
      "tracker-hosts": "ok",
    });
  });

  it("serves the page with every style, script and mark that it names", async () => {
    const page = await readText(`${url}/`);
    const names = [...page.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => String(path));

    expect(names).toEqual(expect.arrayContaining([expect.stringMatching(/\.css/), expect.stringMatching(/\.js/)]));
    for (const name of names) expect((await readText(`${url}${name}`)).length, name).toBeGreaterThan(0);
  });

  it("writes the delivered notifications, with their severities, into the log", () => {
    const told = program.log().filter(({ msg }) => msg === "alert firing");

    expect(told.map(({ slug, severity, event, level }) => ({ slug, severity, event, level }))).toEqual(
      expect.arrayContaining([
        { slug: "ads-hosts", severity: "fail", event: "firing", level: "error" },
        { slug: "adware-hosts", severity: "warn", event: "firing", level: "warn" },
        { slug: "risk-hosts-median", severity: "fail", event: "firing", level: "error" },
      ]),
    );
    expect(told).toHaveLength(3);
  });

  it("counts them as delivered", async () => {
    const exposition = await readText(`${url}/metrics`);

    expect(exposition).toMatch(/^flatline_notifications_total\{receiver="console",outcome="delivered"\} [123]$/m);
  });

  it.skipIf(promtool.skipReason !== null)(`leaves promtool nothing to say`, async () => {
    expect(promtool.complaints(await readText(`${url}/metrics`))).toBe("");
  });

  it("says only what is no trouble", () => {
    expect(program.log().filter(({ level, msg }) => level !== "info" && msg !== "alert firing")).toEqual([]);
    expect(program.stdout()).toBe("");
  });
});

describe("config.example.yaml", () => {
  it("listens on this machine only, reaches nobody and has no secret but one for trying", () => {
    const { server, source, receivers } = parse(example) as {
      server: unknown;
      source: { type: string };
      receivers: { type: string }[];
    };

    expect(server).toEqual({ listen: "127.0.0.1:9640", token: "example-token" });
    expect(source.type).toBe("embedded");
    expect(receivers.map(({ type }) => type)).toEqual(["log"]);
    expect(example).not.toContain("${");
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it("names the assets of its alert: as many lines of CSV as different assets are known", async () => {
    const listed = await runProgram(["alerts", "list", "--json", "--url", url], { cwd: folder });
    const { alerts } = JSON.parse(listed.stdout) as { alerts: { id: string; slug: string }[] };
    const id = alerts.find(({ slug }) => slug === "ads-hosts")?.id ?? "";
    const answer = await fetch(`${url}/api/v1/alerts/${id}/assets?limit=1`, {
      headers: { authorization: "Bearer example-token" },
    });
    const { count, knownCount } = (await answer.json()) as { count: number; knownCount: number };

    const csv = await runProgram(["alerts", "assets", id, "--csv", "--url", url], { cwd: folder });
    const json = await runProgram(["alerts", "assets", id, "--json", "--url", url], { cwd: folder });
    const shown = await runProgram(["alerts", "assets", id, "--url", url], { cwd: folder });
    const unknown = await runProgram(["alerts", "assets", "nobody", "--url", url], { cwd: folder });
    const alert = await runProgram(["alerts", "show", id, "--url", url], { cwd: folder });
    const nobody = await runProgram(["alerts", "show", "nobody", "--url", url], { cwd: folder });

    expect(alert.stdout).toMatch(/^detected +\d{4}-\d\d-\d\dT[\d:]+Z$/m);
    expect(alert.stdout).toMatch(/^notified +\d{4}/m);
    expect(alert.stdout).toMatch(/^finding +5,119 deaths/m);
    expect(alert.stdout).toContain(`flatline alerts assets ${id}`);
    expect(nobody).toMatchObject({ exitCode: 64, stdout: "" });

    const [header, ...rows] = csv.stdout.trimEnd().split("\n");
    expect(header).toBe("deadAt,assetType,asset,revivedAt");
    expect(count).toBe(5_119);
    expect(rows).toHaveLength(knownCount);
    expect(json.stdout.trimEnd().split("\n")).toHaveLength(knownCount);
    expect(shown.stdout).toContain(`5,119 deaths, ${knownCount.toLocaleString("en")} different assets known`);
    expect(unknown).toMatchObject({ exitCode: 64, stdout: "" });
    expect(unknown.stderr).toContain("no such alert of a spike over stored events: it has no assets");
  });
});
