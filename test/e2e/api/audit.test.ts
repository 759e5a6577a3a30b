import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { AuditEntry } from "../../../src/store/acts/audit.ts";
import { runCli, type CliOutcome } from "../../support/program/cli-run.ts";
import { freePort } from "../../support/free-port.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { makeProgramFolder } from "../../support/program/program-folder.ts";
import { eventually, startDaemon } from "../../support/program/program.ts";

const endsAt = "2090-01-01T00:00:00.000Z";
const later = "2090-01-02T00:00:00.000Z";
const check = "dead-asset-spike";

let folder: DaemonFolder;
let url: string;
let alertId: string;
let incidentId: string;

/** A row as it is compared: all of it but its number and its time. */
type Row = Omit<AuditEntry, "id" | "atMs">;
type Subject = Pick<Row, "action" | "slug" | "subject" | "detail">;

beforeAll(async () => {
  folder = await makeDaemonFolder();
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  await folder.configure(`
source: { type: embedded }
defaults: { schedule: "@yearly" }
organizations: [{ slug: acme, receivers: [] }]
alerting: { groupWait: 0s, fleet: false }
receivers: [{ name: console, type: log }]
server:
  listen: "127.0.0.1:${port}"
  token: root
  trustedProxy: { from: ["127.0.0.0/8"], may: { sre: [read, operate, gate, admin] } }
storage: { path: flatline.db }
`);
  await folder.addDeaths("acme", { lastHour: 90, perDay: 3 });
  await folder.start();
  [alertId, incidentId] = await eventually(async () => {
    const { alerts } = (await (await fetch(`${url}/api/v1/alerts`)).json()) as {
      alerts: { id: string; incidentId: string | null }[];
    };
    const [alert] = alerts;
    return alert === undefined || alert.incidentId === null ? null : [alert.id, alert.incidentId];
  });
});
afterAll(() => folder.close());

async function enqueue(id: string): Promise<void> {
  const entry = {
    id,
    receiver: "console",
    createdAtMs: 4_000_000_000_000,
    payload: '{"receiver":"console","recipient":null,"alerts":[]}',
  };
  await folder.withStore((store) => store.transaction(({ outbox }) => outbox.enqueue([entry])));
}

/** The rows that `work` leaves, oldest first. */
async function rowsOf(work: () => Promise<unknown>): Promise<Row[]> {
  const all = (): Promise<readonly AuditEntry[]> => folder.withStore((store) => store.audit.list({ limit: 1_000 }));
  const before = await all();
  await work();
  return (await all())
    .slice(0, -before.length || undefined)
    .toReversed()
    .map(({ id: _id, atMs: _atMs, ...row }) => row);
}

const ways = [
  { via: "token", actor: "token", headers: { authorization: "Bearer root" } },
  {
    via: "proxy",
    actor: "dana",
    headers: { "x-forwarded-user": "dana", "x-forwarded-groups": "sre", "sec-fetch-site": "same-origin" },
  },
] as const;

/** What is made by one act, for the next one. */
const made = { silence: "", marker: "", key: "" };

interface HttpAct {
  readonly name: string;
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: () => string;
  readonly body?: object;
  readonly row: () => Subject;
  readonly keep?: (answer: { readonly id: string }) => void;
}

const alertPath = (path: string) => (): string => `/api/v1/alerts/${alertId}${path}`;
const ofAlert = (action: Row["action"], detail: Row["detail"]) => (): Subject => ({
  action,
  slug: "acme",
  subject: alertId,
  detail,
});
/** An act is one on the alert's incident. */
const act =
  (action: Row["action"], detail: object = {}) =>
  (): Subject =>
    ofAlert(action, { check, kind: "verdict", severity: "fail", ...detail, incidentId })();
let isReleased = false;
/** Of a gate that is on hold, as it is at first, it is of the alert that held it. */
const releaseRow = (detail: Row["detail"]): Subject => {
  const row: Subject = { action: "release", slug: "acme", subject: null, detail };
  const first = isReleased ? row : act("release", detail)();
  isReleased = true;
  return first;
};
const httpActs: readonly HttpAct[] = [
  {
    name: "a run",
    method: "POST",
    path: () => `/api/v1/checks/${check}/acme/run`,
    row: () => ({ action: "run", slug: "acme", subject: check, detail: { severity: "fail" } }),
  },
  {
    name: "an acknowledgement",
    method: "POST",
    path: alertPath("/ack"),
    body: { comment: "on it", by: "Kim" },
    row: act("acknowledge", { comment: "on it", note: "Kim" }),
  },
  { name: "its end", method: "DELETE", path: alertPath("/ack"), row: act("unacknowledge") },
  {
    name: "a comment",
    method: "POST",
    path: alertPath("/comments"),
    body: { comment: "odd https://a.example" },
    row: act("comment", { comment: "odd https://a.example" }),
  },
  {
    name: "a judgement",
    method: "POST",
    path: alertPath("/judgement"),
    body: { verdict: "checker", comment: "captcha" },
    row: act("judgement", { verdict: "checker", comment: "captcha" }),
  },
  {
    name: "its withdrawal",
    method: "DELETE",
    path: alertPath("/judgement"),
    row: act("judgement.withdraw"),
  },
  {
    name: "a release",
    method: "POST",
    path: () => "/api/v1/gate/acme/release",
    body: { comment: "opened ten" },
    row: () => releaseRow({ comment: "opened ten" }),
  },
  {
    name: "a silence",
    method: "POST",
    path: () => "/api/v1/silences",
    body: { slug: "ac*", startsAt: "2089-12-15T00:00:00.000Z", endsAt, comment: "migration" },
    row: () => ({
      action: "silence.create",
      slug: "ac*",
      subject: made.silence,
      detail: { check: null, startsAt: "2089-12-15T00:00:00.000Z", endsAt, comment: "migration" },
    }),
    keep: ({ id }) => (made.silence = id),
  },
  {
    name: "its change",
    method: "PATCH",
    path: () => `/api/v1/silences/${made.silence}`,
    body: { endsAt: later, comment: "slow" },
    row: () => ({
      action: "silence.change",
      slug: "ac*",
      subject: made.silence,
      detail: { endsAt: later, endedBefore: endsAt, comment: "slow" },
    }),
  },
  {
    name: "its end by hand",
    method: "DELETE",
    path: () => `/api/v1/silences/${made.silence}`,
    row: () => ({ action: "silence.end", slug: "ac*", subject: made.silence, detail: {} }),
  },
  {
    name: "a marker",
    method: "POST",
    path: () => "/api/v1/markers",
    body: { slug: "acme", text: "rollout", at: "2026-01-01T00:00:00.000Z" },
    row: () => ({
      action: "marker.create",
      slug: "acme",
      subject: made.marker,
      detail: { at: "2026-01-01T00:00:00.000Z", text: "rollout" },
    }),
    keep: ({ id }) => (made.marker = id),
  },
  {
    name: "its removal",
    method: "DELETE",
    path: () => `/api/v1/markers/${made.marker}`,
    row: () => ({ action: "marker.delete", slug: "acme", subject: made.marker, detail: { text: "rollout" } }),
  },
  {
    name: "a key",
    method: "POST",
    path: () => "/api/v1/keys",
    body: { organizations: ["acme", "acme"], name: "soc" },
    row: () => ({
      action: "keys.create",
      slug: null,
      subject: made.key,
      detail: { name: "soc", role: "customer", organizations: ["acme"] },
    }),
    keep: ({ id }) => (made.key = id),
  },
  {
    name: "its end",
    method: "DELETE",
    path: () => `/api/v1/keys/${made.key}`,
    row: () => ({ action: "keys.revoke", slug: null, subject: made.key, detail: {} }),
  },
  {
    name: "a whole CSV of assets",
    method: "GET",
    path: alertPath("/assets?format=csv&stillDead=true"),
    row: ofAlert("assets.csv", { stillDead: true, assets: 0 }),
  },
  {
    name: "a reload",
    method: "POST",
    path: () => "/-/reload",
    row: () => ({ action: "reload", slug: null, subject: null, detail: {} }),
  },
  {
    name: "another attempt of a notification",
    method: "POST",
    path: () => "/api/v1/outbox/first/retry",
    row: () => ({ action: "outbox.retry", slug: null, subject: "first", detail: { receiver: "console" } }),
  },
  {
    name: "the end of a notification",
    method: "DELETE",
    path: () => "/api/v1/outbox/second",
    row: () => ({ action: "outbox.discard", slug: null, subject: "second", detail: { receiver: "console" } }),
  },
];

describe.each(ways)("by HTTP, via $via,", ({ via, actor, headers }) => {
  beforeAll(async () => {
    for (const id of ["first", "second"]) await folder.withStore((store) => store.outbox.discard(id));
    for (const id of ["first", "second"]) await enqueue(id);
  });

  it.each(httpActs)("$name is one row", async ({ method, path, body, row, keep }) => {
    const rows = await rowsOf(async () => {
      const answer = await fetch(url + path(), {
        method,
        headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      expect(answer.status).toBeLessThan(300);
      const text = await answer.text();
      if (keep !== undefined) keep(JSON.parse(text) as { id: string });
    });

    expect(rows).toEqual([{ actor, via, ...row() }]);
  });
});

const flatline = async (...args: string[]): Promise<CliOutcome> => {
  const outcome = await runCli(args, { cwd: folder.path, env: { USER: "Kim" } });
  expect(outcome.exitCode, `${args.join(" ")}: ${outcome.stderr}`).toBe(0);
  return outcome;
};

describe("by a command", () => {
  it("through the daemon it is the token's, with the user beside it", async () => {
    for (const id of ["third", "fourth"]) await enqueue(id);
    const ofEntry = (action: Row["action"], subject: string, detail: Row["detail"]): Subject => ({
      action,
      slug: null,
      subject,
      detail,
    });
    const user = { user: "Kim" };
    const said = { ...user, note: "Kim" };
    const acts: readonly (readonly [readonly string[], Subject])[] = [
      [["incidents", "ack", "1"], act("acknowledge", said)()],
      [["incidents", "ack", "1", "--undo"], act("unacknowledge", said)()],
      [["incidents", "comment", "1", "odd"], act("comment", { comment: "odd", ...said })()],
      [["incidents", "judge", "1", "checker"], act("judgement", { verdict: "checker", ...said })()],
      [["incidents", "judge", "1", "none"], act("judgement.withdraw", said)()],
      [["gate", "release", "acme", "--comment", "opened ten"], releaseRow({ comment: "opened ten", ...said })],
      [
        ["incidents", "assets", "1", "--csv"],
        { action: "assets.csv", slug: null, subject: incidentId, detail: { assets: 0, ...user } },
      ],
      [["outbox", "retry", "third"], ofEntry("outbox.retry", "third", { receiver: "console", ...user })],
      [["outbox", "discard", "fourth"], ofEntry("outbox.discard", "fourth", { receiver: "console", ...user })],
      [
        ["notify", "test", "console"],
        ofEntry("receiver.test", "console", { accepted: 1, of: 1, isResumed: false, ...user }),
      ],
    ];
    for (const [args, row] of acts)
      expect([args, await rowsOf(() => flatline(...args))]).toEqual([args, [{ actor: "token", via: "token", ...row }]]);
  });

  it("`flatline audit` lists them newest first, by author and by time, as the API does", async () => {
    const listed = JSON.parse((await flatline("audit", "--json", "--limit", "3")).stdout) as {
      action: string;
      id: string;
    }[];
    const table = await flatline("audit", "--actor", "dana");
    const none = await flatline("audit", "--until", "2020-01-01T00:00:00Z");
    const answer = await fetch(`${url}/api/v1/audit?limit=3`, { headers: { authorization: "Bearer root" } });
    const { entries, cursor } = (await answer.json()) as { entries: unknown[]; cursor: string };

    expect(listed.map(({ action }) => action)).toEqual(["receiver.test", "outbox.discard", "outbox.retry"]);
    expect(listed).toEqual(entries);
    expect(typeof cursor).toBe("string");
    const [head, first, ...rest] = table.stdout.trim().split("\n");
    expect(head).toMatch(/^AT +ACTOR +VIA +ACTION +ORGANIZATION +SUBJECT +DETAIL$/);
    expect(first).toMatch(/^\S+Z +dana +proxy +outbox\.discard +second +receiver=console$/);
    expect(rest).toHaveLength(httpActs.length - 1);
    expect(table.stdout).toContain("comment=odd hxxps://a[.]example");
    expect(none.stdout).toBe("no act matches these flags\n");
  });
});

it("a review over API v2 leaves an audit row by the key's name", async () => {
  await writeFile(
    join(folder.path, "fixture.json"),
    JSON.stringify({
      assets: [{ id: 501, type: "URL", content: "https://acme-login.example", status: "UNKNOWN" }],
      reports: [
        {
          id: 9001,
          organization: "acme",
          createdAt: "2026-01-01T00:00:00.000Z",
          status: "TODO",
          source: "API",
          reporter: { kind: "human", name: "Kim", organization: null },
          proposals: [{ id: 301, assetId: 501, decision: null, decidedBy: null, queue: "queued", resolved: false }],
          scans: [],
        },
      ],
    }),
  );
  await flatline("import", "fixture", "fixture.json");
  const key = (await flatline("keys", "create", "--organization", "acme", "--name", "soc")).stdout.trim();

  const rows = await rowsOf(async () => {
    const answer = await fetch(`${url}/api/v2/organization/proposals/301/review`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ assetId: 501, decision: "REJECT", rejectReason: "decayed" }),
    });
    expect(answer.status).toBe(200);
  });

  const detail = { decision: "REJECT", assetId: 501 };
  expect(rows).toEqual([{ actor: "soc", via: "api_v2", action: "review", slug: "acme", subject: "301", detail }]);
});

it("a reload by a signal or by the file's change is one row of the configuration, a refused one none", async () => {
  const text = (organizations: string): string => `
source: { type: embedded }
defaults: { schedule: "@yearly", whenNoEvents: ok }
organizations: ${organizations}
server: { listen: "127.0.0.1:0", token: root }
storage: { path: flatline.db }
`;
  await using program = await makeProgramFolder(text("[acme]"));
  await using daemon = await startDaemon([], { cwd: program.path });
  const rows = async (): Promise<string[]> => {
    const answer = await fetch(`${daemon.url}/api/v1/audit`, { headers: { authorization: "Bearer root" } });
    const { entries } = (await answer.json()) as { entries: { actor: string; via: string; action: string }[] };
    return entries.map(({ actor, via, action }) => `${action} ${actor} ${via}`);
  };

  daemon.signal("SIGHUP");
  await eventually(async () => (await rows()).length === 1);
  await program.write("flatline.yaml", text("[acme, globex]"));
  await eventually(async () => (await rows()).length === 2);
  await program.write("flatline.yaml", text("[acme, acme]"));
  await daemon.untilLogged("configuration not reloaded, the running one goes on");

  expect(await rows()).toEqual(["reload file config", "reload signal config"]);
});
