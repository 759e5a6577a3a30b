import { beforeEach, describe, expect, it } from "vitest";

import type { DeliveryOutcome, IncidentMessages } from "../../alerting/deliver/receiver.ts";
import type { Notification } from "../../alerting/notify/notification.ts";
import { Secret } from "../../base/secret.ts";
import { sinkBench } from "../../../test/support/far-side/sink-bench.ts";
import { notifications } from "../../../test/support/notifications.ts";
import { createSlackBot } from "./slack.ts";

const samples: Readonly<Record<string, Notification>> = notifications();
const token = "xoxb-1234567890-secret";

interface ScriptedAnswer {
  readonly body: object | string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const sink = sinkBench();
let answers: ScriptedAnswer[];
let posts: number;
/** The incident at the attempt; null: as in the notification. */
let present: Notification | null;
let stored: Map<string, Parameters<IncidentMessages["saveMessage"]>[2]>;

/** All samples are of one incident, except the test. */
function sample(kind: string, { organizations = 1 } = {}): Notification {
  const notification = samples[kind];
  const incident = samples["fleet"]?.incident;
  if (notification === undefined || incident === undefined || incident === null) throw new Error(`no sample ${kind}`);
  const own = { ...incident.own, organizations };
  return { ...notification, incident: kind === "test" ? null : { ...incident, organizations, own } };
}

function deliver(notification: Notification): Promise<DeliveryOutcome> {
  const receiver = createSlackBot(
    { name: "trust", token: new Secret(token), channel: "#alerts", apiUrl: `${sink.url}/api/` },
    {
      dispatcher: sink.dispatcher,
      logger: { info: () => undefined } as never,
      messages: {
        messageOf: (name, incident) => Promise.resolve(stored.get(`${name} ${incident}`) ?? null),
        saveMessage: (name, incident, message) => {
          stored.set(`${name} ${incident}`, message);
          return Promise.resolve();
        },
        presentOf: (notification) => Promise.resolve(present ?? notification),
        firingOf: () => Promise.reject(new Error("nobody asks for it")),
      },
    },
  );
  return receiver.deliver(notification, { signal: new AbortController().signal, nowMs: notification.generatedAtMs });
}

const calls = () =>
  sink.requests.map(({ path, body }) => ({ method: path.replace("/api/", ""), ...(JSON.parse(body) as object) }));

/** Delivers a first message of the incident. */
async function posted(): Promise<void> {
  expect((await deliver(sample("firing"))).kind).toBe("accepted");
  sink.requests.length = 0;
}

describe("a bot of Slack", () => {
  beforeEach(() => {
    answers = [];
    posts = 0;
    present = null;
    stored = new Map();
    sink.answer = (response) => {
      const answer: ScriptedAnswer = answers.shift() ?? { body: { ok: true, channel: "C042", ts: `17000.${++posts}` } };
      const { body, status = 200, headers = {} } = answer;
      response.writeHead(status, headers).end(typeof body === "string" ? body : JSON.stringify(body));
    };
  });

  it("posts an incident once, and keeps the channel's id and the message's", async () => {
    expect(await deliver(sample("firing"))).toEqual({ kind: "accepted", detail: "chat.postMessage: ok" });

    expect(calls()).toMatchObject([{ method: "chat.postMessage", channel: "#alerts", unfurl_links: false }]);
    expect(sink.requests[0]?.headers["authorization"]).toBe(`Bearer ${token}`);
    const number = sample("firing").incident?.number;
    expect([...stored]).toEqual([[`trust ${number}`, { channel: "C042", message: "17000.1" }]]);
  });

  it("edits it to what holds, and replies what has changed", async () => {
    await posted();

    expect((await deliver(sample("escalated"))).kind).toBe("accepted");

    expect(calls()).toMatchObject([
      { method: "chat.update", channel: "C042", ts: "17000.1", blocks: expect.any(Array) },
      { method: "chat.postMessage", channel: "C042", thread_ts: "17000.1", mrkdwn: false },
    ]);
  });

  it("says an act in the thread, and in the message how the incident stands at the attempt", async () => {
    await posted();
    present = sample("resolved");

    expect((await deliver(sample("judged"))).kind).toBe("accepted");

    const [edit, reply] = calls() as { text?: string }[];
    expect(edit?.text).toContain("○ 12 of 21 organizations");
    expect(reply?.text).toContain("judged");
  });

  it("says a second opinion in a reply, and in the message", async () => {
    await posted();
    const { alerts, ...escalated } = sample("escalated", { organizations: 3 });

    await deliver({ ...escalated, alerts: alerts.map((alert) => ({ ...alert, reason: "second_opinion" })) });

    const [edit, reply] = calls();
    expect(JSON.stringify(edit)).toContain("14 of 20 still answer");
    expect(reply).toMatchObject({
      text: "Second opinion: 14 of 20 still answer; of 20 known to be alive 19 do, of 20 long dead 1.",
      thread_ts: "17000.1",
    });
  });

  it("says the end of the excess by the reader's clock, and in the message", async () => {
    await posted();
    const { incident, alerts, ...escalated } = sample("escalated", { organizations: 3 });
    if (incident === null) throw new Error("no incident");
    const excessStoppedAtMs = Date.UTC(2026, 0, 15, 11, 1);
    const quietSinceMs = excessStoppedAtMs;
    const expectedEndAtMs = quietSinceMs + 86_400_000;
    const excess = { state: "stopped", deathsLastHour: 0, usualPerHour: 9, quietSinceMs, expectedEndAtMs } as const;
    const headline = { ...incident.headline, excess };

    await deliver({
      ...escalated,
      incident: { ...incident, excessStoppedAtMs, headline },
      alerts: alerts.map((alert) => ({ ...alert, reason: "excess_stopped" })),
    });

    const [edit, reply] = calls();
    const date = "<!date^1768474860^{date_short_pretty} {time}|15 Jan 11:01 UTC>";
    const leaves = "<!date^1768561260^{date_short_pretty} {time}|16 Jan 11:01 UTC>";
    expect(JSON.stringify(edit)).toContain(`*Nothing unusual since*\\n${date}`);
    expect(JSON.stringify(edit)).toContain(`*It ends by*\\n${leaves}`);
    expect(reply).toMatchObject({
      text: `Nothing unusual since ${date}. It ends by ${leaves}.`,
      mrkdwn: true,
      thread_ts: "17000.1",
    });
  });

  it.each(["message_not_found", "cant_update_message", "edit_window_closed"])("posts anew after %s", async (error) => {
    await posted();
    answers = [{ body: { ok: false, error } }];

    expect((await deliver(sample("escalated"))).kind).toBe("accepted");

    expect(calls()).toMatchObject([{ method: "chat.update" }, { method: "chat.postMessage", channel: "#alerts" }]);
    expect([...stored.values()]).toEqual([{ channel: "C042", message: "17000.2" }]);
  });

  it.each([
    { when: "in the answer", answer: { body: { ok: false, error: "ratelimited" }, headers: { "retry-after": "7" } } },
    { when: "by its status", answer: { body: "", status: 429, headers: { "retry-after": "7" } } },
  ])("waits as long as Slack asks $when", async ({ answer }) => {
    answers = [answer];

    expect(await deliver(sample("firing"))).toMatchObject({ kind: "retry", retryAfterMs: 7_000 });
    expect(stored.size).toBe(0);
  });

  it.each([
    ["invalid_auth", "give the receiver the bot token"],
    ["missing_scope", "chat:write"],
    ["not_in_channel", "invite the bot to the channel"],
    ["channel_not_found", "invite the bot to it"],
  ])("gives up after %s, and says what to do", async (error, what) => {
    answers = [{ body: { ok: false, error } }];

    const outcome = await deliver(sample("firing"));

    expect(outcome).toMatchObject({ kind: "rejected", error: expect.stringContaining(`${error}: `) as string });
    expect("error" in outcome ? outcome.error : "").toContain(what);
  });

  it("tries again after what is no answer of Slack's, and shows no token that is echoed", async () => {
    answers = [{ body: `<html>${token}</html>` }];

    const outcome = await deliver(sample("firing"));

    expect(outcome).toMatchObject({ kind: "retry" });
    expect(JSON.stringify(outcome)).not.toContain(token);
  });

  it("says the end to the whole channel, too, and nothing else", async () => {
    await posted();
    await deliver(sample("escalated"));
    await deliver(sample("judged"));
    await deliver(sample("fleet-resolved"));

    const replies = calls().filter(({ method }) => method === "chat.postMessage");
    expect(replies.map((reply) => "reply_broadcast" in reply)).toEqual([false, false, true]);
  });

  it("edits again when the reply was not taken", async () => {
    await posted();
    answers = [
      { body: { ok: true, channel: "C042", ts: "17000.1" } },
      { body: { ok: false, error: "internal_error" } },
    ];

    expect((await deliver(sample("escalated"))).kind).toBe("retry");
    expect((await deliver(sample("escalated"))).kind).toBe("accepted");

    expect(calls().map(({ method }) => method)).toEqual([
      "chat.update",
      "chat.postMessage",
      "chat.update",
      "chat.postMessage",
    ]);
  });

  it("posts what is of no incident as a message of its own", async () => {
    expect((await deliver(sample("test"))).kind).toBe("accepted");
    expect((await deliver(sample("test"))).kind).toBe("accepted");

    expect(calls().map(({ method }) => method)).toEqual(["chat.postMessage", "chat.postMessage"]);
    expect(stored.size).toBe(0);
  });
});
