import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { parseExposition, seriesValue } from "../../support/exposition-parser.ts";
import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import { eventually, readText, startDaemon, type Daemon } from "../../support/program/program.ts";
import { sampleHealthcheck } from "../../support/far-side/api-samples.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "../../support/far-side/scripted-upstream.ts";

const reloaded = "flatline_config_last_reload_successful";

let upstream: ScriptedUpstream;
let folder: ProgramFolder;

function configText(organizations: string): string {
  return `
source: { type: remote, baseUrl: "${upstream.baseUrl}", apiKey: key }
defaults: { schedule: "* * * * * *" }
organizations: ${organizations}
receivers: [{ name: console, type: log }]
alerting: { groupWait: 0s }
server: { listen: "127.0.0.1:0" }
storage: { path: flatline.db }
`;
}

async function metricsOf(daemon: Daemon): Promise<{ readonly text: string; readonly reloaded: number | null }> {
  const text = await readText(`${daemon.url}/metrics`);
  return { text, reloaded: seriesValue(parseExposition(text), reloaded) };
}

/** Resolves with /metrics as soon as it names `shown` and not `gone`, whose gate may still be held. */
function untilShown(daemon: Daemon, shown: string, gone: string): Promise<string> {
  return eventually(async () => {
    const { text } = await metricsOf(daemon);
    const isGone = text
      .split("\n")
      .every((line) => !line.includes(`"${gone}"`) || line.startsWith("flatline_gate_held"));
    return isGone && text.includes(`flatline_check_up{check="dead-asset-spike",slug="${shown}"}`) ? text : null;
  });
}

function startedCount(daemon: Daemon): number {
  return daemon.log().filter(({ msg }) => msg === "flatline started").length;
}

beforeEach(async () => {
  upstream = await startScriptedUpstream();
  upstream.otherwise(({ body }) => {
    const { slug } = JSON.parse(body) as { slug: string };
    const severity = slug === "acme" ? "fail" : "ok";
    return { kind: "answer", body: sampleHealthcheck({ scope: { slug }, severity }) };
  });
  folder = await makeProgramFolder(configText("[acme, globex]"));
});
afterEach(async () => {
  await folder[Symbol.asyncDispose]();
  await upstream.close();
});

describe("SIGHUP", () => {
  it("applies a good file: the new organization appears, the gone one loses every series and is told as ended", async () => {
    await using daemon = await startDaemon([], { cwd: folder.path });
    await untilShown(daemon, "acme", "initech");
    await daemon.untilLogged("alert firing", { slug: "acme" });

    await folder.write("flatline.yaml", configText("[globex, initech]"));
    daemon.signal("SIGHUP");
    const metrics = await untilShown(daemon, "initech", "acme");

    expect(metrics).toContain('slug="globex"');
    expect(metrics).toContain(`${reloaded} 1`);
    await daemon.untilLogged("alert resolved", { slug: "acme", reason: "organization_removed" });
    expect(startedCount(daemon)).toBe(1);
  });

  it("refuses a bad file: says where it is wrong, shows it, and everything else goes on", async () => {
    await using daemon = await startDaemon([], { cwd: folder.path });
    await untilShown(daemon, "acme", "initech");

    await folder.write("flatline.yaml", `${configText("[globex, initech]")}\nreceivrs: []\n`);
    daemon.signal("SIGHUP");
    const line = await daemon.untilLogged("configuration not reloaded, the running one goes on");
    const asked = upstream.requests.length;
    await upstream.received(asked + 4);
    const metrics = await untilShown(daemon, "acme", "initech");

    expect(JSON.stringify(line)).toContain("flatline.yaml:");
    expect(JSON.stringify(line)).toContain("receivrs");
    expect(metrics).toContain(`${reloaded} 0`);
    expect((await metricsOf(daemon)).reloaded).toBe(0);

    await folder.write("flatline.yaml", configText("[globex, initech]"));
    daemon.signal("SIGHUP");
    await untilShown(daemon, "initech", "acme");
    expect((await metricsOf(daemon)).reloaded).toBe(1);
  });
});

describe("a reload", () => {
  it("changes what is logged, by what already runs too", async () => {
    await using daemon = await startDaemon([], { cwd: folder.path });
    await untilShown(daemon, "acme", "initech");

    await folder.write("flatline.yaml", `${configText("[acme, globex]")}\nlog: { level: debug }\n`);
    daemon.signal("SIGHUP");
    await daemon.untilLogged("configuration reloaded");

    expect(await daemon.untilLogged("check ran", { slug: "acme" })).toMatchObject({ level: "debug" });
  });
});

describe("the daemon", () => {
  it("sees new content of the file, and does not reload what is only touched", async () => {
    await using daemon = await startDaemon([], { cwd: folder.path });
    await untilShown(daemon, "acme", "initech");

    await folder.write("flatline.yaml", configText("[acme, globex]"));
    await folder.write("flatline.yaml", configText("[globex, initech]"));
    await untilShown(daemon, "initech", "acme");

    expect(daemon.log().filter(({ msg }) => msg === "configuration reloaded")).toHaveLength(1);
  });
});
