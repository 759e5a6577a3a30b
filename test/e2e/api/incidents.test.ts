import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { runCli, type CliOutcome } from "../../support/program/cli-run.ts";
import { useDaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";

const folder = useDaemonFolder();
/** Slack's API. */
let slack: HttpSink;

beforeAll(async () => {
  slack = await startSlack();
  await folder.configure(`
defaults: { schedule: "@yearly" }
organizations: [acme, globex, initech]
receivers: [{ name: trust, type: slack, token: xoxb-of-the-tests, channel: "#trust", apiUrl: "${slack.url}/api", sendActs: true }]
alerting: { groupWait: 0s, fleet: false, externalUrl: "https://flatline.example" }
server:
  listen: "${folder.listen}"
  token: root-secret-of-the-tests
`);
  for (const slug of ["acme", "globex"]) await folder.addDeaths(slug, { lastHour: 90, perDay: 3 });
  await folder.addDeaths("initech", { lastHour: 0, perDay: 3 });
  await folder.start();
  // Slack has accepted the message: from then on the answers are the same.
  await eventually(async () => {
    const { alerts = [] } = (await ask("/api/v1/incidents/1", root)).body as {
      readonly alerts?: readonly { readonly notifiedAt: string | null }[];
    };
    return alerts.length === 2 && alerts.every(({ notifiedAt }) => notifiedAt !== null) ? true : null;
  });
});
afterAll(async () => {
  await slack.close();
});

function startSlack(): Promise<HttpSink> {
  return startHttpSink((response, _request, index) =>
    response.end(JSON.stringify({ ok: true, channel: "C042", ts: `1700000000.${index}` })),
  );
}

async function ask(path: string, token: string | null, body?: object): Promise<{ status: number; body: unknown }> {
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const answer = await fetch(`${folder.url}${path}`, {
    headers: { ...headers, "content-type": "application/json" },
    ...init,
  });
  return { status: answer.status, body: await answer.json() };
}

const root = "root-secret-of-the-tests";
const flatline = (...args: string[]): Promise<CliOutcome> => runCli(args, { cwd: folder.path, env: { USER: "kim" } });

describe("/api/v1/incidents", () => {
  it("has what began together as one, with a number and a link", async () => {
    const { body } = await ask("/api/v1/incidents/1", root);

    expect(body).toMatchObject({
      number: 1,
      url: "https://flatline.example/incidents/1",
      family: "deaths",
      endedAt: null,
      severity: "fail",
      organizations: 2,
      firing: 2,
      deaths: { count: 180 },
      likelyCause: expect.any(String),
      secondOpinion: null,
      acknowledgedBy: null,
      held: 2,
      fleet: null,
      alerts: [{ slug: "acme", incidentNumber: 1, endsAt: null }, { slug: "globex" }],
      judgements: { checker: 0, real: 0, expected: 0 },
      comments: [],
      cost: null,
    });
    const { id } = body as { readonly id: string };
    expect((await ask(`/api/v1/incidents/${id}`, root)).body).toEqual((await ask("/api/v1/incidents/1", root)).body);
  });

  it("shows people's words only to who may read them", async () => {
    const { body } = await ask("/api/v1/incidents/1", null);

    for (const key of ["acknowledgedBy", "comments", "judgements"]) expect(body).not.toHaveProperty(key);
  });

  it.each([
    ["?state=closed", 400, "state: must be open, ended or all"],
    ["?family=none", 400, "family: must be one of deaths, unreachable, no-events, review-queue, regret"],
    ["?limit=201", 400, "limit: must be a whole number from 1 to 200"],
    ["?cursor=x", 400, "cursor: is none that this listing gave; begin again without it"],
    ["/99", 404, null],
    ["/none", 404, null],
  ])("answers %s with %d", async (path, status, issue) => {
    const answer = await ask(`/api/v1/incidents${path}`, null);

    expect(answer.status).toBe(status);
    if (issue !== null) expect(answer.body).toMatchObject({ issues: [{ message: issue }] });
  });

  it.each([
    ["ack", { slugs: ["initech"] }],
    ["ack", { slugs: [] }],
    ["judgement", { verdict: "maybe" }],
    ["release", {}],
    ["silence", { comment: "x" }],
    ["silence", { comment: "x", duration: "31d" }],
    ["comments", { comment: " " }],
    ["ack?dryRun=yes", {}],
  ])("refuses %s with %j", async (path, body) => {
    expect((await ask(`/api/v1/incidents/1/${path}`, root, body)).status).toBe(400);
  });
});

describe("flatline incidents", () => {
  it("lists and shows them", async () => {
    const listed = await flatline("incidents", "list");
    expect(listed.stdout).toMatch(
      /INCIDENT.*SEVERITY.*DETECTED.*\n\s*1\s+fail\s.*2 of 3 organizations spike since \d\d:\d\d\./,
    );
    const shown = await flatline("incidents", "show", "1");
    expect(shown.stdout).toMatch(/^incident 1: fail\n2 of 3 organizations spike since \d\d:\d\d\.\n/);
    expect(shown.stdout).toMatch(/^began \S+Z, detected \S+Z; 2 of 2 organizations fire$/m);
    expect(shown.stdout).toContain("180 deaths");
    expect(JSON.parse((await flatline("incidents", "list", "--json")).stdout)).toMatchObject([{ number: 1 }]);
    expect((await flatline("incidents", "list", "--family", "regret")).stdout).toBe("no incident is open\n");
    expect(await flatline("incidents", "show", "7")).toMatchObject({ exitCode: 64, stdout: "" });
  });

  it("acts on all of one, says what it did, and asks before it opens gates", async () => {
    expect((await flatline("incidents", "ack", "1", "--comment", "on it")).stdout).toBe(
      "acknowledged: 2 organizations\ntakedowns still on hold: acme, globex\n",
    );
    expect((await ask("/api/v1/incidents/1", root)).body).toMatchObject({
      acknowledgedBy: "kim (token)",
      comments: [{ text: "on it", act: "acknowledge", slug: null, actor: "token", note: "kim" }],
    });
    expect((await flatline("incidents", "ack", "1", "--undo")).stdout).toContain("no longer acknowledged: 2");
    const foreseen = await flatline("incidents", "judge", "1", "real", "--dry-run");
    expect(foreseen.stdout).toBe(
      "would be judged real: 2 organizations\ntakedowns that would be allowed again: acme, globex\n",
    );

    const refused = await flatline("incidents", "judge", "1", "real");
    expect(refused).toMatchObject({ exitCode: 64, stdout: "" });
    expect(refused.stderr).toContain("this opens 2 gates (acme, globex), and there is no terminal to ask on");

    const judged = await flatline("incidents", "judge", "1", "real", "--slug", "acme", "--yes");
    expect(judged.stdout).toBe("judged real: 1 organization\ntakedowns allowed again: acme\n");
    expect((await flatline("incidents", "judge", "1", "none")).stdout).toBe(
      "no longer judged: 0 organizations\nleft as they are, judged apart: 1 organization\n" +
        "left as they are, already so: 1 organization\ntakedowns still on hold: globex\n",
    );
    expect((await flatline("incidents", "judge", "1", "none", "--slug", "acme")).stdout).toBe(
      "no longer judged: 1 organization\ntakedowns still on hold: acme\n",
    );
    await flatline("incidents", "judge", "1", "real", "--slug", "acme", "--yes");
    await flatline("incidents", "judge", "1", "checker", "--slug", "globex");
    const { cost } = (await ask("/api/v1/incidents/1", root)).body as { cost: Record<string, unknown> };
    expect(cost).toEqual({
      deaths: 90,
      knownCount: expect.any(Number),
      revived: 0,
      stillDead: cost["knownCount"],
      medianClosedSeconds: null,
      closedSeconds: 0,
    });
    const released = await flatline("incidents", "release", "1", "--comment", "ten opened", "--yes");
    expect(released.stdout).toBe(
      "released: 1 organization\nleft as they are, already so: 1 organization\ntakedowns allowed again: globex\n",
    );
    const silenced = await flatline("incidents", "silence", "1", "--duration", "1h", "--comment", "known", "--json");
    expect(JSON.parse(silenced.stdout)).toMatchObject({ done: [{ slug: "acme" }, { slug: "globex" }], skipped: [] });
    expect((await flatline("incidents", "comment", "1", "looked at ten")).stdout).toBe(
      "commented on: 2 organizations\n",
    );
  });
});

/** What Slack is asked for. */
interface SlackCall {
  readonly channel: string;
  readonly text: string;
  readonly thread_ts?: string;
}

const callsOf = ({ requests }: HttpSink) =>
  requests.map(({ path, body }) => ({ path, ...(JSON.parse(body) as SlackCall) }));

describe("a receiver of type slack with a token", () => {
  it("shows the incident in one message, and in its thread what was done", async () => {
    const replies = await eventually(() => {
      const said = callsOf(slack).filter((call) => call.thread_ts !== undefined);
      return Promise.resolve(said.some(({ text }) => text.includes("looked at ten")) ? said : null);
    });

    const [first, ...later] = callsOf(slack);
    expect(first).toMatchObject({ path: "/api/chat.postMessage", channel: "#trust" });
    for (const call of later) expect(call.channel).toBe("C042");
    expect(new Set(replies.map((call) => call.thread_ts))).toEqual(new Set(["1700000000.0"]));
    // The second organization may have joined a moment after the first.
    const titles = replies.map(({ text }) => text.split("\n")[0]);
    expect(titles.slice(titles.findIndex((title) => title?.includes("acknowledged")))).toMatchInlineSnapshot(`
      [
        "■ 2 organizations: acknowledged by kim (token)",
        "■ 2 organizations: unacknowledged by kim (token)",
        "■ acme: takedowns allowed, judged real by kim (token)",
        "■ acme: judgement withdrawn by kim (token)",
        "■ acme: takedowns allowed, judged real by kim (token)",
        "■ globex: judged checker by kim (token)",
        "■ globex: takedowns allowed, released by hand by kim (token)",
        "■ 2 organizations: comment by kim (token)",
      ]
    `);
    const edits = later.filter(({ path }) => path === "/api/chat.update");
    expect(edits).toHaveLength(replies.length);
    expect(edits.at(-1)?.text).toContain("All that fires is silenced");
  });
});
