import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { sampleHealthcheck } from "../support/api-samples.ts";
import { makeDaemonFolder, type DaemonFolder } from "../support/daemon.ts";
import { parseExposition } from "../support/exposition-parser.ts";
import { eventually, readText } from "../support/program.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "../support/scripted-upstream.ts";

const tenYears = "315360000";
const token = "token-of-the-tests";
const authorization = `Bearer ${token}`;

let folder: DaemonFolder;

beforeEach(async () => {
  folder = await makeDaemonFolder();
});
afterEach(async () => {
  await folder.close();
});

describe("a Retry-After of ten years from the upstream", () => {
  let upstream: ScriptedUpstream;
  beforeEach(async () => {
    upstream = await startScriptedUpstream();
  });
  afterEach(async () => {
    await upstream.close();
  });

  async function failedRuns(url: string): Promise<number> {
    const metrics = parseExposition(await readText(`${url}/metrics`), "text");
    const samples = metrics.get("flatline_check_runs_total")?.samples ?? [];
    return samples.filter(({ labels }) => labels["outcome"] === "error").reduce((sum, { value }) => sum + value, 0);
  }

  it("counts for an hour, outlasts a reload, and ends for all of the key when somebody runs a check", async () => {
    upstream.script({ kind: "answer", status: 429, headers: { "retry-after": tenYears } });
    await folder.configure(`
source: { type: remote, baseUrl: "${upstream.baseUrl}", apiKey: key, concurrency: 1 }
defaults: { schedule: "* * * * * *" }
organizations: [acme, globex]
server: { listen: "127.0.0.1:0", token: ${token} }
storage: { path: flatline.db }
`);
    const app = await folder.start();
    const url = app.address()?.url ?? "";
    const checks = `${url}/api/v1/checks/dead-asset-spike`;
    await eventually(async () => (await failedRuns(url)) >= 2);

    await app.reload();
    const before = await failedRuns(url);
    await eventually(async () => (await failedRuns(url)) >= before + 4);
    const view = JSON.parse(await readText(`${checks}/globex`)) as { error: { reason: string; message: string } };
    const paused = upstream.requests.length;
    upstream.otherwise(({ body }) => {
      const { slug } = JSON.parse(body) as { slug: string };
      return { kind: "answer", body: sampleHealthcheck({ scope: { slug } }) };
    });
    const run = await fetch(`${checks}/acme/run`, { method: "POST", headers: { authorization } });

    expect(paused).toBe(1);
    expect(view.error.reason).toBe("rate_limited");
    expect(view.error.message).toMatch(/another 3(600|5\d\d) s$/);
    expect(run.status).toBe(200);
    expect(await run.json()).toMatchObject({ slug: "acme", severity: "ok" });
    await eventually(async () => {
      const { severity } = JSON.parse(await readText(`${checks}/globex`)) as { severity: string };
      return severity === "ok";
    });
  });
});
