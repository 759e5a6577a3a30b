import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { minuteMs } from "../../../src/base/time.ts";
import { firingAlert, openIncident } from "../../support/firing-alert.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { nightOfDeaths, urlsOf } from "../../support/night-of-deaths.ts";
import { runCli, type CliOutcome } from "../../support/program/cli-run.ts";
import { useDaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";

const folder = useDaemonFolder();
let verifier: HttpSink;

beforeAll(async () => {
  verifier = await startHttpSink((response, { body }) => {
    const { assets } = JSON.parse(body) as { readonly assets: readonly { readonly asset: string }[] };
    const results = assets.map(({ asset }) => ({ asset, answer: "answers", detail: "Sign in" }));
    response.end(JSON.stringify({ results }));
  });
  await folder.configure(`
defaults: { schedule: "@yearly" }
organizations: [acme, globex]
alerting: { fleet: false }
secondOpinion:
  sample: 4
  control: 0
  verifier: { url: "${verifier.url}" }
server:
  listen: "${folder.listen}"
  token: root-secret-of-the-tests
  tokens:
    - { name: reader, token: reader-secret-of-tests, may: [read] }
`);
  const deaths = ["acme", "globex"].flatMap((slug) =>
    nightOfDeaths(slug, Date.now(), { dead: [...urlsOf(`up-${slug}-`, 60), `=of@${slug}`] }),
  );
  await folder.withStore((store) => store.transaction(({ events }) => events.add(deaths)));
  await folder.start();
  await eventually(async () => ((await ask("/api/v1/incidents/1", root)).body["secondOpinion"] ? true : null));
});
afterAll(async () => {
  await verifier.close();
});

async function ask(
  path: string,
  token: string | null,
  method = "GET",
): Promise<{ status: number; body: Record<string, unknown> }> {
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  const answer = await fetch(`${folder.url}${path}`, { method, headers });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const root = "root-secret-of-the-tests";
const flatline = (...args: string[]): Promise<CliOutcome> => runCli(args, { cwd: folder.path, env: { USER: "kim" } });

describe("the second opinion", () => {
  it("is of the incident that has opened, with its assets only for who may read them", async () => {
    const { body } = await ask("/api/v1/incidents/1", root);

    const opinion = { asked: 4, alive: 4, gone: 0, verdict: "undecided" };
    expect(body["secondOpinion"]).toMatchObject({
      ...opinion,
      finding: "of 4 looked at 4 still answer and 0 are gone, which decides nothing",
    });
    const { answers } = body["secondOpinion"] as { readonly answers: readonly object[] };
    expect(answers).toHaveLength(4);
    expect(answers[0]).toStrictEqual({
      asset: expect.stringMatching(/^https:\/\/up-/),
      assetType: "URL",
      role: "sample",
      answer: "answers",
      detail: "Sign in",
    });
    const { body: open } = await ask("/api/v1/incidents/1", null);
    expect(open["secondOpinion"]).toMatchObject(opinion);
    expect(open["secondOpinion"]).not.toHaveProperty("answers");
  });

  it("is asked for by who may operate, and not again within a minute", async () => {
    const path = "/api/v1/incidents/1/second-opinion";

    expect((await ask(path, null, "POST")).status).toBe(401);
    expect((await ask(path, "reader-secret-of-tests", "POST")).status).toBe(403);
    expect((await ask(path, root, "POST")).status).toBe(429);
    expect((await ask("/api/v1/incidents/9/second-opinion", root, "POST")).status).toBe(404);
    expect(await flatline("incidents", "look", "1")).toMatchObject({
      exitCode: 75,
      stderr: expect.stringContaining("ask again in a minute"),
    });
  });

  it("is shown by the command, and counted", async () => {
    expect((await flatline("incidents", "show", "1")).stdout).toContain(
      "second opinion: of 4 looked at 4 still answer",
    );
    const report = (await flatline("incidents", "show", "1", "--markdown")).stdout;
    expect(report).toMatch(/^- Second opinion: Undecided\. Of 4 looked at 4 still answer/m);
    const metrics = await (await fetch(`${folder.url}/metrics`)).text();
    expect(metrics).toContain('flatline_second_opinion_answers_total{answer="answers"} 4');
    expect(metrics).toContain('flatline_second_opinion_verdicts_total{verdict="undecided"} 1');
  });

  it("puts what it saw alive first in the list of what is to be brought back", async () => {
    const path = "/api/v1/incidents/1/assets";
    const toRestore = `${path}?toRestore=true`;
    expect((await ask(path, null)).status).toBe(401);
    expect((await ask(`${path}?toRestore=yes`, root)).status).toBe(400);
    expect((await ask("/api/v1/incidents/9/assets", root)).status).toBe(404);
    expect((await ask(toRestore, root)).body).toMatchObject({ count: 0, knownCount: 0, assets: [] });

    await flatline("incidents", "judge", "1", "checker", "--slug", "globex");
    const revived = { assetType: "URL", status: "DETECTED_AS_ALIVE", id: null, count: 1, atMs: Date.now() };
    const events = ["=of@globex", "=of@acme"].map((asset) => ({ ...revived, slug: asset.slice(4), asset }));
    await folder.withStore((store) => store.transaction((parts) => parts.events.add(events)));

    const { body } = await ask(`${toRestore}&limit=1000`, root);
    const assets = body["assets"] as { slug: string; asset: string; answer: string | null; revivedAt: string | null }[];
    const seen = assets.filter(({ answer }) => answer === "answers");
    expect(body).toMatchObject({ number: 1, knownCount: 61, seenAliveCount: seen.length, revivedCount: 1 });
    expect(new Set(assets.map(({ slug }) => slug))).toStrictEqual(new Set(["globex"]));
    expect(assets.slice(0, seen.length)).toStrictEqual(seen);
    expect(assets[seen.length]).toMatchObject({ asset: "=of@globex", answer: null, revivedAt: expect.any(String) });
    expect(assets).toHaveLength(61);

    const paged: unknown[] = [];
    for (let next = ""; paged.length < 61;) {
      const { body: page } = await ask(`${toRestore}&limit=20${next}`, root);
      paged.push(...(page["assets"] as unknown[]));
      next = `&cursor=${String(page["cursor"])}`;
    }
    expect(paged).toStrictEqual(assets);
    expect((await ask(`${toRestore}&stillDead=true`, root)).body).toMatchObject({ revivedCount: 1, knownCount: 61 });
    expect((await ask(`${path}?limit=1`, root)).body).toMatchObject({ knownCount: 122, seenAliveCount: 4 });
  });

  it("is a list for programs and for the terminal, whose making is an act", async () => {
    const csv = await flatline("incidents", "assets", "1", "--to-restore", "--csv");
    const [head, ...rows] = csv.stdout.trimEnd().split("\n");
    expect(head).toBe("slug,deadAt,assetType,asset,revivedAt,answer");
    expect(rows).toHaveLength(61);
    expect(rows.find((row) => row.includes("=of"))).toMatch(/^globex,[^,]+,URL,=of@globex,20[^,]+,$/);
    const still = await flatline("incidents", "assets", "1", "--to-restore", "--still-dead", "--json");
    expect(still.stdout.trimEnd().split("\n")).toHaveLength(60);
    const some = await flatline("incidents", "assets", "1", "--limit", "7", "--json");
    expect(some.stdout.trimEnd().split("\n")).toHaveLength(7);
    const shown = await flatline("incidents", "assets", "1", "--to-restore");
    expect(shown.stdout).toMatch(/DEAD SINCE +TYPE +FOUND ALIVE +ANSWER +ORGANIZATION +ASSET/);
    expect(shown.stdout).toMatch(
      /61 deaths, 61 different assets known; \d answered the verifier, 1 was found alive\n$/,
    );
    expect(shown.stdout).not.toContain("https://up-");
    expect((await ask("/api/v1/audit?limit=1", root)).body).toMatchObject({
      entries: [{ action: "assets.csv", slug: null, detail: { toRestore: true, assets: 61 } }],
    });
    const page = await (
      await fetch(`${folder.url}/incidents/1`, { headers: { authorization: `Bearer ${root}` } })
    ).text();
    expect(page).toContain('href="/api/v1/incidents/1/assets?toRestore=true&#38;format=sheet"');
  });

  it("is asked for on the page, without scripts, by who may operate", async () => {
    let path = "/incidents/1/look";
    const send = (token: string, init: RequestInit = {}): Promise<Response> =>
      fetch(folder.url + path, {
        redirect: "manual",
        headers: { authorization: `Bearer ${token}`, accept: "text/html" },
        ...init,
      });
    const page = await (await fetch(`${folder.url}/incidents/1`)).text();
    expect(page).toMatch(/<a\s+class="button"\s+href="\/incidents\/1\/look"/);
    expect((await send("reader-secret-of-tests")).status).toBe(403);
    expect((await send("reader-secret-of-tests", { method: "POST" })).status).toBe(403);
    const asked = await (await send(root)).text();
    expect(asked).toMatch(/<form\s+method="post"\s+action="\/incidents\/1\/look"/);
    expect(asked).toContain("As token.");

    const early = await send(root, { method: "POST" });

    expect(early.status).toBe(429);
    expect(await early.text()).toContain("ask again in a minute.");

    // One that nobody has looked at, as it has ended.
    const number = await folder.withStore(async ({ incidents, alerts }) => {
      const [endedAtMs, startedAtMs] = [Date.now() - minuteMs / 2, Date.now() - minuteMs];
      const { number: _given, ...begun } = openIncident(startedAtMs);
      const incident = await incidents.add({ ...begun, id: "ended" });
      await incidents.save({ ...incident, endedAtMs });
      const alert = firingAlert("old", startedAtMs, { windowHours: 24, incident });
      await alerts.save({ ...alert, end: { atMs: endedAtMs, isByRun: true } });
      return incident.number;
    });
    path = `/incidents/${number}/look`;
    const began = await send(root, { method: "POST" });

    expect(began.status).toBe(303);
    expect(began.headers.get("location")).toMatch(/^\/incidents\/2\?did=The%20verifier%20is%20asked\./);
    expect((await ask("/api/v1/audit?limit=1", root)).body).toMatchObject({
      entries: [{ action: "look", subject: "ended", detail: { look: 1 } }],
    });
    await eventually(async () =>
      (await ask(`/api/v1/incidents/${number}`, root)).body["secondOpinion"] ? true : null,
    );
  });
});
