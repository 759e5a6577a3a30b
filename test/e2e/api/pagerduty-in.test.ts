import { createHmac } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { alertOf as findAlert, listAlerts, useDaemonFolder, type LiveAlert } from "../../support/program/daemon.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { eventually } from "../../support/program/program.ts";

const secret = "the-secret-of-the-webhook";
const token = "a-token-of-the-tests";
const bearer = { authorization: `Bearer ${token}`, "content-type": "application/json" };
const slugs = ["acme", "globex", "hooli", "initech"];

const folder = useDaemonFolder();
let pagerduty: HttpSink;
let events = 0;

beforeAll(async () => {
  pagerduty = await startHttpSink((response) => void response.writeHead(202).end("{}"));
  await folder.configure(`
defaults: { schedule: "@yearly", gate: { releaseOn: [resolved] }, alert: { repeatInterval: 1h } }
organizations: [acme, globex, hooli, initech]
alerting: { groupWait: 2s, groupInterval: 0s, fleet: false }
receivers:
  - { name: pager, type: pagerduty, routingKey: key, webhookSecret: ${secret}, url: "${pagerduty.url}/v2/enqueue" }
  - { name: other, type: pagerduty, routingKey: key, url: "${pagerduty.url}/other", match: { slug: nobody } }
  - { name: theirs, type: pagerduty, routingKey: key, webhookSecret: ${secret}, url: "${pagerduty.url}/theirs", match: { slug: nobody } }
server: { listen: "${folder.listen}", token: a-token-of-the-tests }
`);
  for (const slug of slugs) await folder.addDeaths(slug, { lastHour: 90, perDay: 3 });
  await folder.start();
});
afterAll(async () => {
  await pagerduty.close();
});

const alertOf = (slug: string): Promise<LiveAlert> => findAlert(folder.url, token, slug);

/** The incident that PagerDuty opened: its key is what flatline sent. */
function incidentKey(): Promise<string> {
  return eventually(async () => {
    const sent = pagerduty.requests.map(({ body }) => JSON.parse(body) as { dedup_key: string; event_action: string });
    return sent.find(({ event_action: action }) => action === "trigger")?.dedup_key ?? null;
  });
}

const acknowledged = async (): Promise<string[]> =>
  (await listAlerts(folder.url, token)).flatMap((one) => (one.acknowledged ? [one.slug] : [])).toSorted();

interface Webhook {
  readonly type: string;
  readonly key: string;
  readonly atMs?: number;
  readonly id?: string;
  readonly person?: string | null;
}

function bodyOf({ type, key, atMs = Date.now(), id = `event-${++events}`, person = "K. Osei" }: Webhook): string {
  return JSON.stringify({
    event: {
      id,
      event_type: type,
      resource_type: "incident",
      occurred_at: new Date(atMs).toISOString(),
      agent: person === null ? null : { id: "P1", type: "user_reference", summary: person },
      data: { id: "Q1", type: "incident", incident_key: key },
    },
  });
}

const sign = (body: string, key = secret): string => `v1=${createHmac("sha256", key).update(body).digest("hex")}`;

async function post(
  body: string,
  { signature = sign(body), receiver = "pager" }: { signature?: string | null; receiver?: string } = {},
): Promise<{ status: number; outcome: string | undefined }> {
  const headers = {
    "content-type": "application/json",
    ...(signature === null ? {} : { "x-pagerduty-signature": signature }),
  };
  const response = await fetch(`${folder.url}/api/v1/hooks/pagerduty/${receiver}`, { method: "POST", headers, body });
  const { outcome } = (await response.json()) as { outcome?: string };
  return { status: response.status, outcome };
}

function auditOf(subject: string): unknown[] {
  const database = new DatabaseSync(join(folder.path, "flatline.db"), { readOnly: true });
  try {
    const rows = database.prepare(
      "select action, actor, via, detail ->> 'receiver' as receiver from audit where subject = ? order by entry_id",
    );
    return rows.all(subject).map((row) => Object.values(row).join(" "));
  } finally {
    database.close();
  }
}

describe("what PagerDuty says of an incident", () => {
  it("is one there for all of it, and quiet here at once in the name of who did it there, and loud again", async () => {
    const key = await incidentKey();
    expect(pagerduty.requests.filter(({ body }) => body.includes('"trigger"'))).toHaveLength(1);
    const quiet = await post(bodyOf({ type: "incident.acknowledged", key, atMs: 1_000 }));

    expect(quiet).toEqual({ status: 200, outcome: "applied" });
    // It never opens a gate.
    expect(await acknowledged()).toEqual(["acme", "globex", "hooli", "initech"]);
    expect(await alertOf("acme")).toMatchObject({ acknowledgement: { by: "PagerDuty: K. Osei" } });
    const gate = (await (await fetch(`${folder.url}/api/v1/gate/acme`)).json()) as { decision: string };
    expect(gate.decision).toBe("hold");

    const loud = await post(bodyOf({ type: "incident.unacknowledged", key, atMs: 2_000, person: "D. Reyes" }));
    expect(loud.outcome).toBe("applied");
    expect(await acknowledged()).toEqual([]);
    expect(auditOf((await alertOf("acme")).id)).toEqual([
      "acknowledge PagerDuty: K. Osei pagerduty pager",
      "unacknowledge PagerDuty: D. Reyes pagerduty pager",
    ]);
  });

  it("counts once, however often it comes, and never when it is older than what was applied", async () => {
    const key = await incidentKey();
    const body = bodyOf({ type: "incident.acknowledged", key, atMs: 5_000 });
    const outcomes = [await post(body), await post(body)].map(({ outcome }) => outcome);
    const many = await Promise.all(Array.from({ length: 8 }, () => post(body)));
    const late = await post(bodyOf({ type: "incident.unacknowledged", key, atMs: 4_999 }));

    expect(outcomes).toEqual(["applied", "repeated"]);
    expect(new Set(many.map(({ status, outcome }) => `${status} ${outcome ?? ""}`))).toEqual(new Set(["200 repeated"]));
    expect(late).toEqual({ status: 200, outcome: "late" });
    expect(await acknowledged()).toHaveLength(4);
    expect(auditOf((await alertOf("globex")).id)).toHaveLength(3);
    expect(await post(bodyOf({ type: "incident.unacknowledged", key, atMs: 6_000 }))).toMatchObject({
      outcome: "applied",
    });
  });

  it("changes nothing of what this receiver was not sent, though its secret is right", async () => {
    const body = bodyOf({ type: "incident.acknowledged", key: await incidentKey() });

    expect(await post(body, { receiver: "theirs" })).toEqual({ status: 200, outcome: "no_alert" });
    expect(await acknowledged()).toEqual([]);
  });

  it("counts as done now when PagerDuty's clock is ahead: what follows is not late", async () => {
    const key = await incidentKey();
    const ahead = await post(bodyOf({ type: "incident.acknowledged", key, atMs: Date.now() + 3_600_000 }));

    expect(ahead.outcome).toBe("applied");
    expect(await post(bodyOf({ type: "incident.unacknowledged", key }))).toMatchObject({ outcome: "applied" });
  });

  it("that is resolved acknowledges: whether it ended is seen here", async () => {
    const key = await incidentKey();

    expect(await post(bodyOf({ type: "incident.resolved", key, person: null }))).toMatchObject({ outcome: "applied" });
    expect(await alertOf("initech")).toMatchObject({
      acknowledged: true,
      acknowledgement: { by: "PagerDuty: no name" },
    });
    expect(await post(bodyOf({ type: "incident.unacknowledged", key }))).toMatchObject({ outcome: "applied" });
  });

  it("is another one there after what was acknowledged got worse here: the old key says nothing any more", async () => {
    const body = bodyOf({ type: "incident.acknowledged", key: `${await incidentKey()}.1` });

    expect(await post(body)).toEqual({ status: 200, outcome: "no_alert" });
  });

  it.each<[string, () => string, string]>([
    [
      "of an incident that flatline did not open",
      () => bodyOf({ type: "incident.acknowledged", key: "x" }),
      "no_alert",
    ],
    [
      "that is a ping",
      () =>
        JSON.stringify({
          event: {
            id: "ping",
            event_type: "pagey.ping",
            occurred_at: "2026-01-01T00:00:00Z",
            agent: null,
            data: { message: "Hello" },
          },
        }),
      "ignored",
    ],
  ])("changes nothing %s", async (_what, body, outcome) => {
    expect(await post(body())).toEqual({ status: 200, outcome });
  });

  it("is taken with any of several signatures", async () => {
    const body = bodyOf({ type: "incident.acknowledged", key: "x" });

    expect(await post(body, { signature: `${sign(body, "old")}, ${sign(body)}` })).toMatchObject({ status: 200 });
  });

  it.each<[string, (body: string) => { signature: string | null; receiver?: string }]>([
    ["without a signature", () => ({ signature: null })],
    ["signed with another secret", (body) => ({ signature: sign(body, "another") })],
    ["for a receiver that has no secret", (body) => ({ signature: sign(body), receiver: "other" })],
    ["for a receiver that is none", (body) => ({ signature: sign(body), receiver: "nobody" })],
  ])("is refused %s", async (_what, given) => {
    const body = bodyOf({ type: "incident.acknowledged", key: await incidentKey(), atMs: 9_000 });

    expect(await post(body, given(body))).toMatchObject({ status: 403 });
    expect(await alertOf("acme")).toMatchObject({ acknowledged: false });
  });

  it.each(["", "no JSON", "{}", '{"event":{"id":"","event_type":"x","occurred_at":"yesterday"}}'])(
    "that is signed and is no webhook is 400: %s",
    async (body) => {
      expect(await post(body)).toMatchObject({ status: 400 });
    },
  );
});

describe("an acknowledgement of an incident", () => {
  it("goes to PagerDuty, under the key that it was opened with", async () => {
    const key = await incidentKey();
    const ack = (method: "POST" | "DELETE"): Promise<Response> =>
      fetch(`${folder.url}/api/v1/incidents/1/ack`, {
        method,
        headers: bearer,
        ...(method === "POST" ? { body: "{}" } : {}),
      });
    expect((await ack("POST")).status).toBe(200);

    const sent = await eventually(() => {
      const bodies = pagerduty.requests.map(({ body }) => JSON.parse(body) as { event_action: string });
      return bodies.find(({ event_action: action }) => action === "acknowledge") ?? null;
    });
    expect(sent).toEqual({ routing_key: "key", event_action: "acknowledge", dedup_key: key });
    expect((await ack("DELETE")).status).toBe(200);
  });
});
