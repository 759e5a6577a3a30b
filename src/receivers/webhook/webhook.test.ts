import { createHmac } from "node:crypto";

import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";

import { Secret } from "../../base/secret.ts";
import { sinkBench } from "../../../test/support/far-side/sink-bench.ts";
import { notifications, sample } from "../../../test/support/notifications.ts";
import { notificationPayload } from "../payload.ts";
import { createWebhookSigner, createWebhookReceiver, type WebhookOptions } from "./webhook.ts";

const plain = "correct horse battery stäple";
const encoded = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const { firing } = notifications();
const signal = new AbortController().signal;
const nowMs = Date.now();
const sink = sinkBench();

function options(given: Partial<WebhookOptions> = {}): WebhookOptions {
  return {
    type: "webhook",
    name: "ops",
    url: new Secret(`${sink.url}/hook?a=b`),
    secret: [],
    template: null,
    contentType: "application/json",
    headers: {},
    ...given,
  };
}

async function deliver(given: Partial<WebhookOptions>) {
  if (firing === undefined) throw new Error("no sample");
  return createWebhookReceiver(options(given), sink).deliver(firing, { signal, nowMs });
}

describe("createWebhookReceiver", () => {
  it.each([
    ["the token of a header", "no such token: header-token-1"],
    ["the key of a secret without its prefix", `bad key ${encoded.slice("whsec_".length)}`],
    // This secret contains the path of the address, /hook.
    ["a secret that holds another one", "bad key Top/hook-7c1e0123456"],
  ])("shows nothing of what the answer echoes: %s", async (_what, echo) => {
    sink.answer = (response) => response.writeHead(400).end(echo);
    const outcome = await deliver({
      url: new Secret(`${sink.url}/hook`),
      secret: [new Secret(encoded), new Secret("Top/hook-7c1e0123456")],
      headers: { authorization: new Secret("Bearer header-token-1") },
    });

    expect(outcome).toEqual({ kind: "rejected", error: expect.stringMatching(/^HTTP 400: [a-z ]+:? \*{3}$/) });
  });

  it("knows the size of its body beforehand", async () => {
    const receiver = createWebhookReceiver(options(), sink);
    for (const notification of Object.values(notifications())) {
      await receiver.deliver(notification, { signal, nowMs });

      expect(receiver.budget?.bytesOf(notification)).toBe(Buffer.byteLength(sink.requests.at(-1)?.body ?? ""));
    }
  });

  it("is refused for size before it is sent where a template makes more of it than a body may have", async () => {
    const doubled =
      "{% assign x = 'xxxxxxxxxxxxxxxx' %}{% for i in (1..16) %}{% assign x = x | append: x %}{% endfor %}";

    const outcome = await deliver({ template: `${doubled}{"text":"{{ x }}"}` });

    expect(outcome).toMatchObject({ kind: "rejected", isTooLarge: true });
    expect(sink.requests).toEqual([]);
  });

  it("posts the payload with its id, unsigned without a secret", async () => {
    const outcome = await deliver({ headers: { "X-Team": new Secret("trust"), "Webhook-Id": new Secret("forged") } });

    const [request] = sink.requests;
    expect(outcome).toEqual({ kind: "accepted", detail: "HTTP 204" });
    expect(request).toMatchObject({ method: "POST", path: "/hook?a=b" });
    expect(request?.headers).toMatchObject({
      "content-type": "application/json",
      "webhook-id": firing?.id,
      "webhook-timestamp": String(Math.floor(nowMs / 1_000)),
      "x-team": "trust",
    });
    expect(request?.headers).not.toHaveProperty("webhook-signature");
    expect(JSON.parse(request?.body ?? "")).toMatchObject({
      version: "1",
      id: firing?.id,
      alerts: [{ slug: "acme", startsAt: "2026-01-15T00:20:00.000Z", endsAt: null, peak: { currentCount: 120 } }],
    });
  });

  it("has no evidence of one cause at its end", () => {
    const { fleet } = notificationPayload(sample("fleet-resolved"));

    expect(fleet).toMatchObject({ organizations: 21, beganAt: null, markers: [], undone: null, sample: [] });
  });

  it("signs with both secrets while they are rotated", async () => {
    await deliver({ secret: [new Secret(plain), new Secret(encoded)] });

    const [request] = sink.requests;
    const headers = request?.headers as Record<string, string>;
    const body = request?.body ?? "";
    const signatures = String(headers["webhook-signature"]).split(" ");
    const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
    const expected = [Buffer.from(plain), Buffer.alloc(32, 7)].map(
      (key) => `v1,${createHmac("sha256", key).update(signed).digest("base64")}`,
    );
    expect(signatures).toEqual(expected);
    expect(new Webhook(encoded).verify(body, headers)).toMatchObject({ version: "1" });
  });

  it("signs the example of the Standard Webhooks specification as it says", () => {
    const sign = createWebhookSigner([new Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")]);

    expect(sign({ id: "msg_p5jXN8AQM9LWM0D4loKWxJek", atMs: 1_614_265_330_000, body: '{"test": 2432232314}' })).toEqual(
      {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
      },
    );
  });

  it("gives a template what fires of the incident at the attempt", async () => {
    if (firing === undefined) throw new Error("no sample");
    const others = firing.alerts.map((alert) => ({ ...alert, slug: "globex" }));
    const messages = {
      messageOf: () => Promise.resolve(null),
      saveMessage: () => Promise.resolve(),
      presentOf: () => Promise.reject(new Error("nobody asks for it")),
      firingOf: () => Promise.resolve([...firing.alerts, ...others]),
    };
    const given = {
      template: "{% for alert in stillFiring %}{{ alert.slug }} {% endfor %}",
      contentType: "text/plain",
    };
    const receiver = createWebhookReceiver(options(given), { ...sink, messages });
    await receiver.deliver(firing, { signal, nowMs });

    expect(sink.requests[0]?.body).toBe("acme globex ");
  });

  it("sends what a template makes, signed as it is sent", async () => {
    await deliver({
      template: "{{ severity }}: {{ alerts[0].slug }}",
      contentType: "text/plain",
      secret: [new Secret(encoded)],
    });

    const [request] = sink.requests;
    expect(request?.body).toBe("fail: acme");
    expect(request?.headers["content-type"]).toBe("text/plain");
    expect(() =>
      new Webhook(encoded).verify("fail: acme", request?.headers as Record<string, string>, { jsonParse: false }),
    ).not.toThrow();
  });

  it("rejects at once what a template can't say", async () => {
    const outcome = await deliver({ template: "{{ alerts[0].nothing }}", contentType: "text/plain" });

    expect(outcome).toMatchObject({ kind: "rejected", error: expect.stringContaining("undefined variable") });
    expect(sink.requests).toHaveLength(0);
  });
});
