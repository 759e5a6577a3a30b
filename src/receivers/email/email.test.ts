import { afterEach, describe, expect, it } from "vitest";

import type { Notification } from "../../alerting/notify/notification.ts";
import { Secret } from "../../base/secret.ts";
import { eventLoopTurn } from "../../base/time.ts";
import { startSmtpSink, type SmtpSink } from "../../../test/support/far-side/smtp-sink.ts";
import { createEmailReceiver, mailOf } from "./email.ts";
import { notifications } from "../../../test/support/notifications.ts";

const samples: Readonly<Record<string, Notification>> = notifications();
let sink: SmtpSink | null = null;

afterEach(async () => {
  await sink?.close();
  sink = null;
});

function firing(slug = "acme"): Notification {
  const { firing: sample } = samples;
  if (sample === undefined) throw new Error("no sample");
  return { ...sample, alerts: sample.alerts.map((alert) => ({ ...alert, slug })) };
}

async function deliver(
  url: string,
  notification = firing(),
  signal = new AbortController().signal,
  answerSignal = signal,
  hello: string | null = null,
) {
  const to = ["Trust <trust@example.com>", "ops@example.com"];
  const from = "flatline@example.com";
  const options = {
    type: "email",
    name: "mail",
    from,
    to,
    url: new Secret(url),
    hello,
  } as const;
  const context = { signal, answerSignal, nowMs: Date.UTC(2026, 0, 15, 12) };
  return createEmailReceiver(options).deliver({ ...notification, recipient: "Trust <trust@example.com>" }, context);
}

describe("createEmailReceiver", () => {
  it("sends one recipient a mail that names all, with an id that is the same on a retry", async () => {
    sink = await startSmtpSink("250 queued as 42");

    const outcome = await deliver(sink.url);
    const { signal } = new AbortController();
    await deliver(sink.url, firing(), signal, signal, "flatline.example.net");

    expect(outcome).toEqual({ kind: "accepted", detail: "250 queued as 42" });
    expect(sink.mails).toHaveLength(2);
    const [mail] = sink.mails;
    const [own, given] = sink.commands.filter((command) => command.startsWith("EHLO"));
    expect([own, given]).toEqual([expect.stringMatching(/^EHLO [\w-]+\./), "EHLO flatline.example.net"]);
    expect(mail).toMatchObject({ from: "flatline@example.com", to: ["trust@example.com"] });
    expect(mail?.data).toContain("To: Trust <trust@example.com>, ops@example.com");
    expect(mail?.data).toContain("Date: Thu, 15 Jan 2026 12:00:00 +0000");
    expect(mail?.data).toContain("Auto-Submitted: auto-generated");
    const ids = sink.mails.map(({ data }) => /^Message-ID: (.*)$/im.exec(data)?.[1]);
    expect(ids[0]).toBe(`<${firing().id}@flatline.invalid>`);
    expect(ids[1]).toBe(ids[0]);
  });

  it("lets no text add a header", async () => {
    sink = await startSmtpSink("250 ok");

    await deliver(sink.url, firing("acme\r\nBcc: everyone@example.com\r\n\r\nhello"));

    const [head] = (sink.mails[0]?.data ?? "").split("\r\n\r\n");
    expect(head).not.toMatch(/^Bcc:/im);
    expect(sink.mails[0]?.to).toEqual(["trust@example.com"]);
  });

  it.each([
    ["4xx is tried again", "451 later", "retry"],
    ["5xx is rejected", "554 no", "rejected"],
  ])("%s", async (_rule, reply, kind) => {
    sink = await startSmtpSink(reply);

    expect(await deliver(sink.url)).toMatchObject({ kind, error: expect.stringContaining(reply) });
  });

  it("shows no password", async () => {
    sink = await startSmtpSink("250 ok");
    const url = sink.url.replace("smtp://", "smtp://user:p%40ssword-1@");

    const outcome = await deliver(url);

    expect(outcome.kind).toBe("rejected");
    expect(JSON.stringify(outcome)).not.toMatch(/p@ssword|p%40ssword/);
    expect(JSON.stringify(outcome)).not.toContain(Buffer.from("\0user\0p@ssword-1").toString("base64"));
  });

  // Linux takes 0.0.0.0 for this machine, but the host is no loopback address.
  it.each([
    ["a server elsewhere that offers no TLS gets no mail and no password", "smtp://user:hush@0.0.0.0", "retry", 0],
    ["one on this machine does", "smtp://127.0.0.1", "accepted", 1],
    ["one elsewhere does with ?tls=no", "smtp://0.0.0.0", "accepted", 1],
  ])("requires encryption: %s", async (rule, base, kind, mails) => {
    sink = await startSmtpSink("250 ok");
    const { port } = new URL(sink.url);

    const outcome = await deliver(`${base}:${port}${rule.endsWith("?tls=no") ? "/?tls=no" : ""}`);

    expect(outcome.kind).toBe(kind);
    expect(sink.mails).toHaveLength(mails);
    expect(sink.commands.some((command) => command.startsWith("AUTH"))).toBe(false);
    if (outcome.kind === "retry") expect(outcome.error).toMatch(/offers no encryption.*smtps.*\?tls=no/);
  });

  it("waits beyond its timeout, and for no longer than it may, for the answer to a mail that was sent", async () => {
    const answer = Promise.withResolvers<undefined>();
    sink = await startSmtpSink("250 ok", { answerAfter: answer.promise });
    const { mails } = sink;
    const [timeout, last] = [new AbortController(), new AbortController()];
    const slow = deliver(sink.url, firing(), timeout.signal, last.signal);
    const given = deliver(sink.url, firing("globex"), timeout.signal, AbortSignal.any([timeout.signal, last.signal]));
    await expect.poll(() => mails.length).toBe(2);
    timeout.abort(new DOMException("late", "TimeoutError"));

    expect(await given).toMatchObject({ kind: "retry", error: "no complete answer in time" });
    expect(await Promise.race([slow, eventLoopTurn()])).toBeUndefined();
    answer.resolve(undefined);
    expect(await slow).toEqual({ kind: "accepted", detail: "250 ok" });
  });

  it("is tried again when nobody listens, and when the deadline passes", async () => {
    sink = await startSmtpSink(null);
    const deadline = new AbortController();
    const late = deliver(sink.url, firing(), deadline.signal);
    deadline.abort(new DOMException("late", "TimeoutError"));

    expect(await late).toMatchObject({ kind: "retry", error: "no complete answer in time" });
    expect(await deliver("smtp://127.0.0.1:1")).toMatchObject({ kind: "retry", error: "connection refused" });
  });
});

describe("mailOf", () => {
  it("puts the mails of one alert into one thread", () => {
    const { escalated, resolved } = samples;
    if (escalated === undefined || resolved === undefined) throw new Error("no samples");

    expect(mailOf(resolved).references).toEqual(mailOf(escalated).references);
    expect(mailOf(resolved).references).toHaveLength(1);
  });
});
