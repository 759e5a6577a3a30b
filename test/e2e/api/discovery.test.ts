import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { sampleHealthcheck } from "../../support/far-side/api-samples.ts";
import { parseExposition, seriesValue } from "../../support/exposition-parser.ts";
import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import {
  eventually,
  readText,
  runProgram,
  startDaemon,
  stopProgram,
  type Daemon,
} from "../../support/program/program.ts";
import {
  startScriptedUpstream,
  type ScriptedStep,
  type ScriptedUpstream,
} from "../../support/far-side/scripted-upstream.ts";

const slugsOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `org-${index}`);

/** The platform, and the service that lists its customers. */
let upstream: ScriptedUpstream;
let list: ScriptedStep;
let folder: ProgramFolder;

interface Ask {
  readonly slug: string;
  readonly minSpikeCount: number;
}

/** What the platform was asked, newest last. */
function asks(): Ask[] {
  return upstream.requests.filter(({ method }) => method === "POST").map(({ body }) => JSON.parse(body) as Ask);
}

beforeEach(async () => {
  upstream = await startScriptedUpstream();
  list = { kind: "answer", body: [] };
  upstream.otherwise(({ method, body }) => {
    if (method === "GET") return list;
    const { slug } = JSON.parse(body) as Ask;
    return { kind: "answer", body: sampleHealthcheck({ scope: { slug }, severity: slug === "bad" ? "fail" : "ok" }) };
  });
  folder = await makeProgramFolder(`
source: { type: remote, baseUrl: "${upstream.baseUrl}", apiKey: key }
defaults: { schedule: "* * * * * *", thresholds: { minSpikeCount: 20 } }
organizations: [{ slug: filed, thresholds: { minSpikeCount: 77 } }]
discover:
  - { name: crm, url: "${upstream.origin}/customers", refreshInterval: 1s }
  - { name: trials, file: trials.json, refreshInterval: 1s }
receivers: [{ name: console, type: log }]
alerting: { groupWait: 0s, fleet: false }
server: { listen: "127.0.0.1:0", token: a-token-of-the-tests }
storage: { path: flatline.db }
`);
  await folder.write("trials.json", JSON.stringify(["both", "trial"]));
});
afterEach(async () => {
  await folder[Symbol.asyncDispose]();
  await upstream.close();
});

const start = (): Promise<Daemon> => startDaemon([], { cwd: folder.path });
const flatline = (...args: string[]) => runProgram(args, { cwd: folder.path });

async function fleetOf(daemon: Daemon) {
  const text = await readText(`${daemon.url}/metrics`);
  const exposition = parseExposition(text);
  const slugs = [...text.matchAll(/^flatline_check_up\{.*slug="([^"]*)"/gm)].map(([, slug = ""]) => slug);
  const of = (name: string, source: string) => seriesValue(exposition, `flatline_${name}`, { source });
  return {
    slugs: slugs.toSorted(),
    up: of("discovery_up", "crm"),
    held: of("discovery_held", "crm"),
    crm: of("discovered_organizations", "crm"),
    trials: of("discovered_organizations", "trials"),
  };
}

/** Waits until exactly these organizations are shown, beside those of the file and of the other source. */
function untilFleet(daemon: Daemon, slugs: readonly string[]) {
  const all = [...new Set([...slugs, "filed", "both", "trial"])].toSorted();
  return eventually(async () => {
    const fleet = await fleetOf(daemon);
    return JSON.stringify(fleet.slugs) === JSON.stringify(all) ? fleet : null;
  });
}

describe("discovery", () => {
  it("checks what the sources list, follows them without a reload, and lets the file and the first source win", async () => {
    list = { kind: "answer", body: [{ slug: "both", thresholds: { minSpikeCount: 5 } }, "filed", "acme", "bad"] };
    await using daemon = await start();
    const first = await untilFleet(daemon, ["acme", "bad"]);
    expect(first).toMatchObject({ up: 1, held: 0, crm: 3, trials: 1 });
    const asked = new Map(asks().map(({ slug, minSpikeCount }) => [slug, minSpikeCount]));
    expect(Object.fromEntries(asked)).toEqual({ filed: 77, both: 5, acme: 20, bad: 20, trial: 20 });
    await daemon.untilLogged("alert firing", { slug: "bad" });

    list = { kind: "answer", body: [{ targets: ["both", "new"], labels: { team: "a" } }] };
    await untilFleet(daemon, ["new"]);

    await daemon.untilLogged("alert resolved", { slug: "bad", reason: "organization_removed" });
    await daemon.untilLogged("discovered organizations changed", {
      source: "crm",
      added: 1,
      removed: 3,
    });
    await folder.write("trials.json", JSON.stringify(["trial", "second"]));
    await eventually(async () => (await fleetOf(daemon)).slugs.includes("second"));
  });

  it("holds back a list that forgets most of its organizations, says so, and applies it at the third refresh", async () => {
    list = { kind: "answer", body: slugsOf(300), headers: { etag: '"full"' } };
    await using daemon = await start();
    await untilFleet(daemon, slugsOf(300));
    const quick = await folder.read("flatline.yaml");
    await folder.write("flatline.yaml", quick.replaceAll("1s }", "1h }"));
    daemon.signal("SIGHUP");
    await daemon.untilLogged("configuration reloaded");
    await stopProgram(daemon);

    list = { kind: "answer", body: ["org-1", "acme"] };
    await using again = await start();
    await again.untilLogged("list is held back: it would remove too many organizations");
    const status = await flatline("status", "--url", again.url);
    expect(status.stdout).toContain(
      "crm gives a list that is held back: it would remove 299 organizations and add 1.   trials 2 organizations",
    );
    const headers = { authorization: "Bearer a-token-of-the-tests" };
    const page = await fetch(`${again.url}/config`, { headers: { ...headers, accept: "text/html" } });
    expect(await page.text()).toContain("it would remove 299 organizations and add 1.");
    expect((await fleetOf(again)).crm).toBe(300);

    await folder.write("flatline.yaml", quick);
    again.signal("SIGHUP");
    expect(await untilFleet(again, ["org-1", "acme"])).toMatchObject({ crm: 2, held: 0 });
  });

  it("keeps the alerts of organizations that move from the file to a list", async () => {
    list = { kind: "answer", body: ["filed", "bad"] };
    const written = await folder.read("flatline.yaml");
    await folder.write(
      "flatline.yaml",
      written.replace(/discover:[^]*?receivers:/, "receivers:").replace("[{ slug: filed", "[bad, { slug: filed"),
    );
    await using daemon = await start();
    await daemon.untilLogged("alert firing", { slug: "bad" });

    await folder.write("flatline.yaml", written);
    daemon.signal("SIGHUP");
    await daemon.untilLogged("configuration reloaded");

    expect(await untilFleet(daemon, ["bad"])).toMatchObject({ crm: 1 });
    expect(daemon.log().filter(({ msg }) => msg === "alert resolved")).toEqual([]);
  });

  it("is known to check and config schedule, by the stored list or by asking the source", async () => {
    list = { kind: "answer", body: ["acme", { slug: "bad", timezone: "Asia/Tokyo", schedule: "0 9 * * *" }] };
    const asked = await flatline("config", "schedule", "bad", "--json", "--next", "1");
    expect(JSON.parse(asked.stdout)).toMatchObject([
      {
        slug: "bad",
        schedule: "0 9 * * *",
        timezone: "Asia/Tokyo",
        next: [expect.stringMatching(/T09:00:00\+09:00$/)],
      },
    ]);
    expect((await flatline("check", "--json")).exitCode).toBe(2);
    const shown = await flatline("config", "show");
    expect(shown.stdout).not.toContain("acme");
    expect(shown.stdout).not.toContain("/customers");

    list = { kind: "answer", status: 503 };
    const unlisted = await flatline("check", "--json");
    expect(unlisted.exitCode).toBe(3);
    expect(unlisted.stderr).toContain("the organizations of discovery source crm are not known: it answered 503\n");
    expect((JSON.parse(unlisted.stdout) as Ask[]).map(({ slug }) => slug)).toEqual(["filed", "both", "trial"]);

    list = { kind: "answer", body: ["acme"] };
    await using daemon = await start();
    await untilFleet(daemon, ["acme"]);
    list = { kind: "answer", status: 503 };
    await eventually(async () => (await fleetOf(daemon)).up === 0);
    const checked = await flatline("check", "--json");
    expect((JSON.parse(checked.stdout) as Ask[]).map(({ slug }) => slug)).toEqual(["filed", "acme", "both", "trial"]);
    expect(checked.exitCode).toBe(0);
  });
});
