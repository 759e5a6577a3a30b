import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { runCli, type CliOptions, type CliOutcome } from "../../support/program/cli-run.ts";
import { platformFixture, platformKeys, startPlatformServer } from "../../support/far-side/platform-server.ts";
import { startScriptedUpstream, type ScriptedStep } from "../../support/far-side/scripted-upstream.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "flatline-reviewing-"));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const embedded = (slugs = "acme"): string => `
source: { type: embedded }
organizations: [${slugs}]
storage: { path: flatline.db }
`;
const remote = (baseUrl: string): string => `
source: { type: remote, baseUrl: "${baseUrl}", apiKey: ${platformKeys.acme}, retries: 0, timeout: 5s }
organizations: [acme]
storage: { path: flatline.db }
`;

/** Runs `proposals review` by this configuration; `typed` is what a person answers. */
async function review(config: string, args: readonly string[], options: Partial<CliOptions> = {}): Promise<CliOutcome> {
  await writeFile(path.join(folder, "flatline.yaml"), config);
  return runCli(["proposals", "review", ...args], { cwd: folder, env: { NO_COLOR: "1" }, ...options });
}

async function importFixture(config = embedded()): Promise<void> {
  await writeFile(path.join(folder, "flatline.yaml"), config);
  await writeFile(path.join(folder, "fixture.json"), JSON.stringify(platformFixture()));
  const { exitCode, stderr } = await runCli(["import", "fixture", "fixture.json"], { cwd: folder });
  expect([exitCode, stderr]).toEqual([0, ""]);
}

async function queuedIds(): Promise<number[]> {
  const args = ["reports", "list", "--needs-customer-review", "--all", "--json", "--slug", "acme"];
  const { stdout } = await runCli(args, { cwd: folder });
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as { proposals: [{ id: number }] }).proposals[0].id);
}

const rejecting = ["301", "--decision", "REJECT", "--reject-reason", "irrelevant"];

describe("proposals review asks", () => {
  it("and sends nothing after a no", async () => {
    await importFixture();

    const { exitCode, stdout, stderr } = await review(embedded(), rejecting, { typed: "n\n" });

    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("nothing was sent");
    expect(await queuedIds()).toContain(301);
  });

  it.each(["y\n", "YES\n"])("and reviews after %j", async (typed) => {
    await importFixture();

    const { exitCode, stdout } = await review(embedded(), rejecting, { typed });

    expect([exitCode, stdout]).toEqual([0, "proposal 301: REJECT\n"]);
    expect(await queuedIds()).not.toContain(301);
  });

  it("with the proposal, its asset, its report and exactly what it will send", async () => {
    await importFixture();

    const { stderr } = await review(embedded(), rejecting, { typed: "n\n" });

    expect(stderr).toContain("Proposal 301 of report 9301: organization acme, report of 301, TODO, from API, created");
    expect(stderr).toContain("asset 501: URL https://phish-301.test/login, UNKNOWN");
    expect(stderr).toContain('  {"assetId":501,"decision":"REJECT","rejectReason":"irrelevant"}\n');
    expect(stderr).toContain("Send it? [y/N] ");
  });

  it("and says that APPROVE holds for every organization", async () => {
    await importFixture();

    const approving = ["301", "--decision", "approve", "--label", "general phishing"];
    const { exitCode, stderr, stdout } = await review(embedded(), approving, { typed: "y\n" });

    expect(stderr).toContain("blocks the asset for EVERY organization");
    expect([exitCode, stdout]).toEqual([0, "proposal 301: APPROVE\n"]);
  });

  it("about the body alone when the proposal is not in the queue", async () => {
    await importFixture();

    const { exitCode, stderr } = await review(embedded(), ["330", ...rejecting.slice(1), "--asset-id", "530"], {
      typed: "y\n",
    });

    expect(stderr).toContain("proposal 330 is not in the review queue\n");
    expect(stderr).toContain('{"assetId":530,');
    expect(exitCode).toBe(1);
  });

  it("for the asset when the proposal cannot be looked up", async () => {
    await importFixture();

    const { exitCode, stderr } = await review(embedded(), ["330", ...rejecting.slice(1)], { typed: "y\n" });

    expect([exitCode, stderr]).toEqual([64, expect.stringContaining("--asset-id is needed")]);
  });

  it("after what an upstream wrote cannot steer the terminal", async () => {
    const upstream = await startScriptedUpstream();
    const asset = { id: 501, type: "URL", content: "https://a.test/\u001b[2J\u001b]0;x\u0007" };
    upstream.script({ kind: "answer", body: { reports: [{ proposals: [{ id: 301, asset }] }] } });

    const { stderr } = await review(remote(upstream.baseUrl), rejecting, { typed: "n\n" });
    await upstream.close();

    // The terminal itself moves its cursor after the question.
    const [before] = stderr.split("Send it?");
    // oxlint-disable-next-line no-control-regex -- they are what must not be there
    expect(before).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/);
    expect(stderr).toContain("https://a.test/");
  });
});

interface Usage {
  readonly rule: string;
  readonly args: readonly string[];
  readonly says: string;
}

const wrongUsage: readonly Usage[] = [
  { rule: "a decision that is none", args: ["301", "--decision", "MAYBE"], says: "APPROVE, REJECT, WATCHLIST" },
  { rule: "APPROVE without a label", args: ["301", "--decision", "APPROVE"], says: "--label" },
  { rule: "a flag of another decision", args: [...rejecting, "--label", "C2 Server"], says: "goes with APPROVE only" },
  { rule: "--yes without the asset", args: [...rejecting, "--yes"], says: "--asset-id: required with --yes" },
  {
    rule: "--dry-run without the asset",
    args: [...rejecting, "--dry-run"],
    says: "--asset-id: required with --yes and --dry-run",
  },
  {
    rule: "APPROVE of a false positive",
    args: ["301", "--decision", "APPROVE", "--label", "False Positive", "--asset-id", "501", "--yes"],
    says: "--decision REJECT --reject-reason no_malicious_activity",
  },
];

describe("proposals review", () => {
  it.each(wrongUsage)("refuses $rule before anything is asked or sent", async ({ args, says }) => {
    const { exitCode, stdout, stderr } = await review(embedded(), args, { typed: "y\n" });

    expect([exitCode, stdout]).toEqual([64, ""]);
    expect(stderr).toContain(says);
    expect(stderr).not.toContain("[y/N]");
    expect(existsSync(path.join(folder, "flatline.db"))).toBe(false);
  });

  it("refuses without a terminal and without --yes, before any request", async () => {
    const { exitCode, stderr } = await review(remote("http://127.0.0.1:1/api/v2"), rejecting);

    expect([exitCode, stderr]).toEqual([64, expect.stringContaining("there is no terminal to ask on")]);
  });

  it("prints exactly the body with --dry-run, asks nobody and opens no store", async () => {
    const upstream = await startScriptedUpstream();
    const line = "301 --decision watchlist --watchlist-reason other --asset-id 501 --note";
    const args = [...line.split(" "), "ä 😀"];

    const dry = await review(remote(upstream.baseUrl), [...args, "--slug", "acme", "--dry-run"]);
    upstream.script({ kind: "answer", body: { reports: [] } }, { kind: "answer", body: reviewed });
    const real = await review(remote(upstream.baseUrl), [...args, "--slug", "acme", "--yes"]);
    await upstream.close();

    expect([dry.exitCode, dry.stderr, real.exitCode]).toEqual([0, "", 0]);
    expect(dry.stdout).toBe(`${upstream.requests[1]?.body}\n`);
    expect(JSON.parse(dry.stdout)).toEqual({
      assetId: 501,
      slug: "acme",
      note: "ä 😀",
      decision: "WATCHLIST",
      watchlistReason: "OTHER",
    });
    expect(existsSync(path.join(folder, "flatline.db"))).toBe(false);
  });

  it("reviews on the service that the configuration names", async () => {
    const server = await startPlatformServer();

    const first = await review(remote(server.baseUrl), [...rejecting, "--json"], { typed: "y\n" });
    const second = await review(remote(server.baseUrl), [...rejecting, "--asset-id", "501"], { typed: "y\n" });
    await server.close();

    expect([first.exitCode, JSON.parse(first.stdout)]).toEqual([
      0,
      expect.objectContaining({ watchlisted: false, proposal: expect.objectContaining({ id: 301 }) }),
    ]);
    expect([second.exitCode, second.stderr]).toEqual([1, expect.stringContaining("409")]);
  });
});

const reviewed = { proposal: {}, review: { decision: "REJECT" }, watchlisted: false };
const queue: ScriptedStep = {
  kind: "answer",
  body: { reports: [{ id: "r1", proposals: [{ id: 301, asset: { id: 501 } }] }] },
};

describe("proposals review on a service", () => {
  const answers: readonly { rule: string; step: ScriptedStep; exitCode: number; says: string }[] = [
    { rule: "that resets", step: { kind: "reset" }, exitCode: 75, says: "whether the review was made is unknown" },
    { rule: "that refuses", step: { kind: "answer", status: 403, body: { message: "no" } }, exitCode: 1, says: "403" },
    { rule: "with no budget", step: { kind: "answer", status: 429, body: {} }, exitCode: 1, says: "429" },
  ];

  it.each(answers)("$rule exits $exitCode, sent once", async ({ step, exitCode, says }) => {
    const upstream = await startScriptedUpstream();
    upstream.script(queue, step);

    const outcome = await review(remote(upstream.baseUrl), rejecting, { typed: "y\n" });
    await upstream.close();

    expect([outcome.exitCode, outcome.stdout]).toEqual([exitCode, ""]);
    expect(outcome.stderr).toContain(says);
    expect(outcome.stderr).not.toContain(platformKeys.acme);
    expect(upstream.requests.map(({ method }) => method)).toEqual(["GET", "POST"]);
  });

  it("that cannot be reached exits 75 and says that nothing was sent", async () => {
    const args = [...rejecting, "--asset-id", "501", "--yes"];
    const { exitCode, stderr } = await review(remote("http://127.0.0.1:1/api/v2"), args);

    expect([exitCode, stderr]).toEqual([75, expect.stringContaining("nothing was sent")]);
  });
});
