import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { beforeAll, describe, expect, it } from "vitest";

import type { AuditEntry } from "../../../src/store/acts/audit.ts";
import { runCli, type CliOutcome } from "../../support/program/cli-run.ts";
import { listAlerts, useDaemonFolder } from "../../support/program/daemon.ts";
import { makeProgramFolder } from "../../support/program/program-folder.ts";
import { eventually, startDaemon } from "../../support/program/program.ts";

const folder = useDaemonFolder();
let alertId: string;
let incidentId: string;

beforeAll(async () => {
  await folder.configure(`
defaults: { schedule: "@yearly" }
organizations: [{ slug: acme, receivers: [] }]
alerting: { groupWait: 0s, fleet: false }
receivers: [{ name: console, type: log }]
server:
  listen: "${folder.listen}"
  token: root
  trustedProxy: { from: ["127.0.0.0/8"], may: { sre: [read, operate, gate, admin] } }
`);
  await folder.addDeaths("acme", { lastHour: 90, perDay: 3 });
  await folder.start();
  [alertId, incidentId] = await eventually(async () => {
    const [alert] = await listAlerts(folder.url, "root");
    return alert === undefined || alert.incidentId === null ? null : [alert.id, alert.incidentId];
  });
});

async function enqueue(id: string): Promise<void> {
  const entry = {
    id,
    receiver: "console",
    createdAtMs: 4_000_000_000_000,
    payload: '{"receiver":"console","recipient":null,"alerts":[]}',
  };
  await folder.withStore((store) => store.transaction(({ outbox }) => outbox.enqueue([entry])));
}

/** The rows that `work` leaves, oldest first: `actor via: action organization subject details`. */
async function rowsOf(work: () => Promise<unknown>): Promise<string[]> {
  const all = (): Promise<readonly AuditEntry[]> => folder.withStore((store) => store.audit.list({ limit: 1_000 }));
  const before = await all();
  await work();
  return (await all())
    .slice(0, -before.length || undefined)
    .toReversed()
    .map(lineOf);
}

/** An act on an alert names it and its incident, which are said in one word here. */
function lineOf({ actor, via, action, slug, subject, detail }: AuditEntry): string {
  const ofAlert = { check: "dead-asset-spike", kind: "verdict", severity: "fail", incidentId };
  const isOfAlert = Object.entries(ofAlert).every(([key, value]) => detail[key] === value);
  const details = Object.entries(detail).flatMap(([key, value]) =>
    isOfAlert && key in ofAlert ? [] : [`${key}=${String(value)}`],
  );
  const line = [action, slug ?? "-", subject ?? "-", ...(isOfAlert ? ["(firing)"] : []), ...details.toSorted()].join(
    " ",
  );
  return `${actor} ${via}: ${line.replaceAll(alertId, "ALERT").replaceAll(incidentId, "INCIDENT")}`;
}

const endsAt = "2090-01-01T00:00:00.000Z";
const silence = { slug: "ac*", startsAt: "2089-12-15T00:00:00.000Z", endsAt, comment: "migration" };
const marker = { slug: "acme", text: "rollout", at: "2026-01-01T00:00:00.000Z" };
/** What is asked for; MADE is what the last one has made. */
const acts: readonly (readonly [request: string, row: string, body?: object])[] = [
  ["POST /api/v1/checks/dead-asset-spike/acme/run", "run acme dead-asset-spike severity=fail"],
  [
    "POST /api/v1/alerts/ALERT/ack",
    "acknowledge acme ALERT (firing) comment=on it note=Kim",
    { comment: "on it", by: "Kim" },
  ],
  ["DELETE /api/v1/alerts/ALERT/ack", "unacknowledge acme ALERT (firing)"],
  [
    "POST /api/v1/alerts/ALERT/comments",
    "comment acme ALERT (firing) comment=odd https://a.example",
    { comment: "odd https://a.example" },
  ],
  [
    "POST /api/v1/alerts/ALERT/judgement",
    "judgement acme ALERT (firing) comment=captcha verdict=checker",
    { verdict: "checker", comment: "captcha" },
  ],
  ["DELETE /api/v1/alerts/ALERT/judgement", "judgement.withdraw acme ALERT (firing)"],
  [
    "POST /api/v1/silences",
    `silence.create ac* MADE check=null comment=migration endsAt=${endsAt} startsAt=${silence.startsAt}`,
    silence,
  ],
  [
    "PATCH /api/v1/silences/MADE",
    `silence.change ac* MADE comment=slow endedBefore=${endsAt} endsAt=2090-01-02T00:00:00.000Z`,
    { endsAt: "2090-01-02T00:00:00.000Z", comment: "slow" },
  ],
  ["DELETE /api/v1/silences/MADE", "silence.end ac* MADE"],
  ["POST /api/v1/markers", `marker.create acme MADE at=${marker.at} text=rollout`, marker],
  ["DELETE /api/v1/markers/MADE", "marker.delete acme MADE text=rollout"],
  [
    "POST /api/v1/keys",
    "keys.create - MADE name=soc organizations=acme role=customer",
    { organizations: ["acme", "acme"], name: "soc" },
  ],
  ["DELETE /api/v1/keys/MADE", "keys.revoke - MADE"],
  ["GET /api/v1/alerts/ALERT/assets?format=csv&stillDead=true", "assets.csv acme ALERT assets=0 stillDead=true"],
  ["POST /-/reload", "reload - -"],
  ["POST /api/v1/outbox/first/retry", "outbox.retry - first receiver=console"],
  ["DELETE /api/v1/outbox/second", "outbox.discard - second receiver=console"],
];

it.each([
  { via: "token", actor: "token", headers: { authorization: "Bearer root" }, held: "ALERT (firing)" },
  {
    via: "proxy",
    actor: "dana",
    headers: { "x-forwarded-user": "dana", "x-forwarded-groups": "sre", "sec-fetch-site": "same-origin" },
    held: "-",
  },
])("each act by HTTP, via $via, is one row", async ({ via, actor, headers, held }) => {
  for (const id of ["first", "second"]) await folder.withStore((store) => store.outbox.discard(id));
  for (const id of ["first", "second"]) await enqueue(id);
  // Of a gate that is on hold, as it is at first, a release is of the alert that held it.
  const release = ["POST /api/v1/gate/acme/release", `release acme ${held} comment=ten`, { comment: "ten" }] as const;
  let made = "";

  for (const [request, row, body] of [...acts, release]) {
    const [method = "", path = ""] = request.replace("ALERT", alertId).replace("MADE", made).split(" ");
    const rows = await rowsOf(async () => {
      const answer = await fetch(folder.url + path, {
        method,
        headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      expect(answer.status).toBeLessThan(300);
      const text = await answer.text();
      if (row.includes("create")) made = (JSON.parse(text) as { readonly id: string }).id;
    });

    expect(rows).toEqual([`${actor} ${via}: ${row.replace("MADE", made)}`]);
  }
});

const flatline = async (...args: string[]): Promise<CliOutcome> => {
  const outcome = await runCli(args, { cwd: folder.path, env: { USER: "Kim" } });
  expect(outcome.exitCode, `${args.join(" ")}: ${outcome.stderr}`).toBe(0);
  return outcome;
};

describe("by a command", () => {
  it("through the daemon it is the token's, with the user beside it", async () => {
    for (const id of ["third", "fourth"]) await enqueue(id);
    for (const [args, row] of [
      ["incidents ack 1", "acknowledge acme ALERT (firing) note=Kim user=Kim"],
      ["incidents ack 1 --undo", "unacknowledge acme ALERT (firing) note=Kim user=Kim"],
      ["incidents comment 1 odd", "comment acme ALERT (firing) comment=odd note=Kim user=Kim"],
      ["incidents judge 1 checker", "judgement acme ALERT (firing) note=Kim user=Kim verdict=checker"],
      ["incidents judge 1 none", "judgement.withdraw acme ALERT (firing) note=Kim user=Kim"],
      ["gate release acme --comment ten", "release acme - comment=ten note=Kim user=Kim"],
      ["incidents assets 1 --csv", "assets.csv - INCIDENT assets=0 user=Kim"],
      ["outbox retry third", "outbox.retry - third receiver=console user=Kim"],
      ["outbox discard fourth", "outbox.discard - fourth receiver=console user=Kim"],
      ["notify test console", "receiver.test - console accepted=1 isResumed=false of=1 user=Kim"],
    ] as const)
      expect(await rowsOf(() => flatline(...args.split(" ")))).toEqual([`token token: ${row}`]);
  });

  it("`flatline audit` lists them newest first, by author and by time, as the API does", async () => {
    const listed = JSON.parse((await flatline("audit", "--json", "--limit", "3")).stdout) as {
      action: string;
      id: string;
    }[];
    const table = await flatline("audit", "--actor", "dana");
    const none = await flatline("audit", "--until", "2020-01-01T00:00:00Z");
    const answer = await fetch(`${folder.url}/api/v1/audit?limit=3`, { headers: { authorization: "Bearer root" } });
    const { entries, cursor } = (await answer.json()) as { entries: unknown[]; cursor: string };

    expect(listed.map(({ action }) => action)).toEqual(["receiver.test", "outbox.discard", "outbox.retry"]);
    expect(listed).toEqual(entries);
    expect(typeof cursor).toBe("string");
    const [head, first, ...rest] = table.stdout.trim().split("\n");
    expect(head).toMatch(/^AT +ACTOR +VIA +ACTION +ORGANIZATION +SUBJECT +DETAIL$/);
    expect(first).toMatch(/^\S+Z +dana +proxy +release +acme +comment=ten$/);
    expect(rest).toHaveLength(acts.length);
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
    const answer = await fetch(`${folder.url}/api/v2/organization/proposals/301/review`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ assetId: 501, decision: "REJECT", rejectReason: "decayed" }),
    });
    expect(answer.status).toBe(200);
  });

  expect(rows).toEqual(["soc api_v2: review acme 301 assetId=501 decision=REJECT"]);
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
