import { describe, expect, it } from "vitest";

import { parseExposition } from "../../support/exposition-parser.ts";
import { sampleHealthcheck } from "../../support/far-side/api-samples.ts";
import type { ReceivedRequest } from "../../support/far-side/http-sink.ts";
import { startScriptedUpstream } from "../../support/far-side/scripted-upstream.ts";
import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import { eventually, readText, startDaemon } from "../../support/program/program.ts";

const slugs = Array.from({ length: 30 }, (_, index) => `org-${String(index).padStart(2, "0")}`);

const slugOf = ({ body }: ReceivedRequest): string => (JSON.parse(body) as { slug: string }).slug;
const answerTo = (request: ReceivedRequest) => ({
  kind: "answer" as const,
  body: sampleHealthcheck({ scope: { slug: slugOf(request) }, ok: true, severity: "ok" }),
});

function makeFolder(baseUrl: string, organizations: string): Promise<ProgramFolder> {
  return makeProgramFolder(`
source: { type: remote, baseUrl: "${baseUrl}", apiKey: key, concurrency: 4 }
organizations: [${organizations}]
alerting: { fleet: false }
server: { listen: "127.0.0.1:0" }
storage: { path: flatline.db }
`);
}

async function upOf(url: string, path: string): Promise<ReadonlyMap<string, number>> {
  const samples = parseExposition(await readText(url + path)).get("flatline_check_up")?.samples ?? [];
  return new Map(samples.map(({ labels, value }) => [labels["slug"] ?? "", value]));
}

describe("probes of a remote source", () => {
  it("ask the platform one at a time, however many there are", async () => {
    const upstream = await startScriptedUpstream();
    upstream.otherwise(answerTo);
    const list = slugs.map((slug) => `{ slug: ${slug}, schedule: "@yearly" }`).join(", ");
    await using folder = await makeFolder(upstream.baseUrl, list);
    await using daemon = await startDaemon([], { cwd: folder.path });
    await eventually(async () => (await upOf(daemon.url, "/metrics")).size === slugs.length);
    let asking = 0;
    let most = 0;
    upstream.otherwise((request) => {
      most = Math.max(most, ++asking);
      // The others have every chance to come.
      const after = eventually(async () => (await fetch(`${daemon.url}/-/healthy`)).ok).finally(() => asking--);
      return { ...answerTo(request), after };
    });

    const given = await Promise.all(slugs.map((slug) => upOf(daemon.url, `/probe?slug=${slug}`)));

    expect(given.map((up) => [...up.values()])).toEqual(slugs.map(() => [1]));
    expect([upstream.requests.length, most]).toEqual([2 * slugs.length, 1]);
    await upstream.close();
  });
});
