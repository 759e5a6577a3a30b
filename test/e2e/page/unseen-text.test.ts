import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { unseen } from "../../../src/base/outside-text.ts";
import { sampleHealthcheck } from "../../support/far-side/api-samples.ts";
import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import {
  eventually,
  readText,
  runProgram,
  startDaemon,
  startProgram,
  type Daemon,
} from "../../support/program/program.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "../../support/far-side/scripted-upstream.ts";

// What an upstream may say: a title that reads backwards, and a control sequence of 8 bits that paints a terminal red.
const slug = "ac\u202eme";
const said = "\u009b31mred\u009b0m \u202eexe.gpj\u2066 \u0085\u200f";

let upstream: ScriptedUpstream;
let folder: ProgramFolder;
let daemon: Daemon;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  upstream.otherwise(() => {
    const findings = [{ kind: "dead-asset-spike", ref: said, severity: "fail", message: said }];
    const body = sampleHealthcheck({ scope: { slug }, severity: "fail", ok: false, title: said, findings });
    return { kind: "answer", body: { ...body, suggestedAction: said } };
  });
  const configuration = (format: string): string =>
    JSON.stringify({
      source: { type: "remote", baseUrl: upstream.baseUrl, apiKey: "key" },
      organizations: [{ slug, labels: { team: "\u202eliar" } }],
      alerting: { groupWait: "0s", fleet: false },
      receivers: [{ name: "console", type: "log" }],
      server: { listen: "127.0.0.1:0" },
      storage: { path: `${format}.db` },
      log: { level: "debug", format },
    });
  folder = await makeProgramFolder(configuration("json"));
  await folder.write("pretty.yaml", configuration("pretty"));
  daemon = await startDaemon([], { cwd: folder.path });
  await daemon.untilLogged("alert firing");
});
afterAll(async () => {
  await daemon.kill();
  await upstream.close();
  await folder[Symbol.asyncDispose]();
});

/** Whether it has none of the characters, and at least one as an escape. */
function expectEscaped(text: string): void {
  expect(text.match(unseen)).toBeNull();
  expect(text).toMatch(/\\u202e/);
}

describe("characters that nobody sees, of an upstream or a slug, are escaped", () => {
  it.each([
    ["a table", ["check"]],
    ["JSON", ["check", "--json"]],
  ])("in %s of a command", async (_what, args) => {
    const { stdout, stderr } = await runProgram(args, { cwd: folder.path });

    expectEscaped(`${stdout}${stderr}`);
  });

  it("in the log as JSON, with the same value", () => {
    expectEscaped(daemon.stderr());
    expect(daemon.log().find(({ msg }) => msg === "alert firing")).toMatchObject({ slug });
  });

  it("in the log for people", async () => {
    await using program = startProgram(["run", "-c", "pretty.yaml"], { cwd: folder.path });
    await eventually(() => program.stderr().includes("console: firing"));

    expectEscaped(program.stderr());
  });

  it.each(["/", `/o/${encodeURIComponent(slug)}`, "/incidents", "/api/v1/checks", "/api/v1/alerts"])(
    "at %s",
    async (path) => {
      expectEscaped(await readText(`${daemon.url}${path}`));
    },
  );

  it("on the page in what is read, while its links lead where they should", async () => {
    const page = await readText(`${daemon.url}/`);

    expect(page).toContain(`href="/o/${encodeURIComponent(slug)}"`);
    expect(page).toContain(String.raw`>ac\u202eme<`);
  });
});
