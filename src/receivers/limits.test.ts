import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { isLong } from "../../test/support/tier.ts";
import type { AlertNotice, Notification } from "../alerting/notify/notification.ts";
import { discordBody } from "./discord/discord.ts";
import { mailOf } from "./email/email.ts";
import { teamsBody } from "./msteams/msteams.ts";
import { pagerdutyEvents } from "./pagerduty/pagerduty.ts";
import { notifications } from "../../test/support/notifications.ts";
import { receiverTypes, type ReceiverType } from "./receivers.ts";
import { slackBody } from "./slack/body.ts";

const hostile = [
  "<!channel> @everyone <@U123> <@&456> <#C1|x> @here",
  "*bold* _italic_ ~strike~ `code` ```block``` **b** __u__ ||s|| # h",
  "[text](https://evil.example) <https://evil.example|ok>",
  "<at>everyone</at> {{DATE(2026-01-15T12:00:00Z)}} ${title} &lt;!here&gt; :fire: \\",
  "\r\nBcc: everyone@example.com\r\n\r\n<script>alert(1)</script>",
  '","blocks":[],"text":"',
  "\u202Egnp.exe\u2066\u0000\u001b[31m\uD800 lone",
  "𝒳".repeat(400),
].join(" ");

const { firing, fleet } = notifications();
if (firing?.alerts[0] === undefined || fleet === undefined) throw new Error("no samples");
const notice: AlertNotice = firing.alerts[0];
const sampled: Notification = firing;
const sampleFleet: Notification = fleet;

function hostileNotice(text: string, findings: number, index = 0): AlertNotice {
  const result = notice.result;
  if (result === null) throw new Error("no result");
  const observed = Object.fromEntries(Array.from({ length: 50 }, (_, key) => [`${text}${key}`, text]));
  return {
    ...notice,
    id: `alert-${index}`,
    slug: text,
    labels: Object.fromEntries(Array.from({ length: 50 }, (_, key) => [`label_${key}`, text])),
    url: `https://app.example.com/o/${encodeURIComponent(text.toWellFormed())}|<!channel>`,
    counts: index % 2 === 0 ? notice.counts : null,
    result: {
      ...result,
      observed,
      findings: Array.from({ length: findings }, (_, key) => ({
        kind: "x",
        ref: `${text}${key}`,
        severity: "fail" as const,
        message: text,
      })),
      suggestedAction: text.repeat(3),
    },
  };
}

function notificationsOf(text: string, findings: number, organizations: number): Notification[] {
  const one: Notification = { ...sampled, alerts: [hostileNotice(text, findings)] };
  const alerts = Array.from({ length: organizations }, (_, index) => hostileNotice(`${text}${index}`, 1, index));
  const assetTypes = Array.from({ length: 40 }, (_, index) => ({
    assetType: `${text}${index}`,
    count: 1,
    share: 0.025,
  }));
  const whole = sampleFleet.incident ?? fail();
  const own = { ...whole.own, organizations, firing: organizations };
  const incident = { ...whole, organizations, firing: organizations, own };
  const worst = alerts.slice(0, 5).map(({ slug }) => ({ slug, excess: 9, count: 10, expected: 1 }));
  const many = { ...one, alerts, incident: { ...incident, worst } };
  return [one, many, { ...many, fleet: { ...(sampleFleet.fleet ?? fail()), assetTypes } }];
}

function fail(): never {
  throw new Error("no fleet");
}

function* texts(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (Array.isArray(value)) for (const item of value) yield* texts(item);
  else if (typeof value === "object" && value !== null) for (const item of Object.values(value)) yield* texts(item);
}

/** The body of each medium that people read. */
const words = { slack: slackBody, discord: discordBody, msteams: teamsBody, email: mailOf };
const hasNone = (): void => undefined;

/** Expects the limits of the service; each type of receiver has to be here. */
const expectLimits: Readonly<Record<ReceiverType, (notification: Notification) => void>> = {
  slack: (notification) => {
    const slack = slackBody(notification);
    expect(slack.blocks.length).toBeLessThanOrEqual(50);
    for (const block of slack.blocks) {
      if (block.type === "header") expect(block.text.text.length).toBeLessThanOrEqual(150);
      if (block.type === "context") {
        expect(block.elements.length).toBeLessThanOrEqual(10);
        for (const { text } of block.elements) expect(text.length).toBeLessThanOrEqual(3_000);
      }
      if (block.type === "section" && "text" in block) expect(block.text.text.length).toBeLessThanOrEqual(3_000);
      if (block.type === "section" && "fields" in block) {
        expect(block.fields.length).toBeLessThanOrEqual(10);
        for (const field of block.fields) expect(field.text.length).toBeLessThanOrEqual(2_000);
      }
    }
    // flatline's own markup: links and times.
    for (const text of texts(slack))
      expect(text).not.toMatch(/<(?!https:\/\/|!date\^\d+\^\{date_short_pretty\} \{time\}\|)/);
  },
  discord: (notification) => {
    const discord = discordBody(notification);
    const [embed] = discord.embeds;
    expect(embed?.title.length).toBeLessThanOrEqual(256);
    expect(embed?.description.length).toBeLessThanOrEqual(4_096);
    let total = (embed?.title.length ?? 0) + (embed?.description.length ?? 0);
    for (const { name, value } of embed?.fields ?? []) {
      expect(name.length).toBeLessThanOrEqual(256);
      expect(value.length).toBeLessThanOrEqual(1_024);
      total += name.length + value.length;
    }
    expect(total).toBeLessThanOrEqual(6_000);
    expect(discord.allowed_mentions).toEqual({ parse: [] });
  },
  msteams: (notification) =>
    expect(Buffer.byteLength(JSON.stringify(teamsBody(notification)))).toBeLessThanOrEqual(28_000),
  pagerduty: (notification) => {
    for (const event of pagerdutyEvents(notification)) {
      expect(event.payload?.summary.length ?? 0).toBeLessThanOrEqual(1_024);
      expect(event.dedup_key.length).toBeLessThanOrEqual(255);
      expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThanOrEqual(512_000);
    }
  },
  email: (notification) => expect(mailOf(notification).subject).not.toMatch(/[\r\n]/),
  alertmanager: hasNone,
  log: hasNone,
  webhook: hasNone,
};

function expectWithinLimits(notification: Notification): void {
  for (const type of receiverTypes) expectLimits[type](notification);
  for (const word of Object.values(words)) {
    for (const text of texts(word(notification))) {
      expect(text.isWellFormed()).toBe(true);
      expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202A-\u202E\u2066-\u2069]/u);
    }
  }
}

describe("limits", () => {
  it.each(
    notificationsOf(hostile, 200, 100).map(
      (notification, index) => [["one", "many", "fleet"][index], notification] as const,
    ),
  )("hold for 200 findings with hostile text: %s", (_kind, notification) => {
    expectWithinLimits(notification);
  });

  it("hold for any text", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 300 }),
        fc.nat(30),
        fc.nat(40),
        (text, findings, organizations) => {
          for (const notification of notificationsOf(text, findings, organizations)) expectWithinLimits(notification);
        },
      ),
      { numRuns: isLong ? 50 : 3 },
    );
  });

  it.each([
    { length: 2_900, isShown: true },
    { length: 3_000, isShown: false },
  ])("of Slack have room for a link of up to 3,000 characters with its label: $length", ({ length, isShown }) => {
    const url = "https://app.example.com/o/".padEnd(length, "a");
    const elements = slackBody({ ...firing, alerts: [{ ...notice, url }] }).blocks.flatMap((block) =>
      block.type === "context" ? block.elements : [],
    );

    expect(elements[0]?.text).toContain("|Open incident 41>");
    expect(elements.slice(1).map(({ text }) => text)).toEqual(isShown ? [`<${url}|Open acme>`] : []);
  });

  it("say how much is missing", () => {
    const [one, many] = notificationsOf("acme", 5_000, 500);
    if (one === undefined || many === undefined) throw new Error("no notification");

    for (const word of Object.values(words)) {
      expect(JSON.stringify(word(one))).toMatch(/\+4,9\d\d more/);
      expect(JSON.stringify(word(many))).toMatch(/\+4\d\d more/);
    }
  });
});

describe("text of others", () => {
  const body = (slug: string): Notification => ({
    ...firing,
    incident: null,
    alerts: [{ ...notice, slug, counts: null }],
  });

  it.each([
    ["a mention in Slack", slackBody, "<!channel>", "&lt;!channel&gt;"],
    ["a link in Slack", slackBody, "<https://evil.example|ok>", "&lt;hxxps://evil[.]example|ok&gt;"],
    ["markdown in Discord", discordBody, "**b** [t](u)", String.raw`\\*\\*b\\*\\* \\[t\\](u)`],
    ["a mention in Discord", discordBody, "<@123>", String.raw`\\<\\@123\\>`],
    ["an address in Discord", discordBody, "https://evil.example", String.raw`hxxps\\://evil\\[.\\]example`],
  ])("is no %s", (_what, word, slug, shown) => {
    expect(JSON.stringify(word(body(slug)))).toContain(shown);
  });

  it("is markup in no block of Slack's that knows any", () => {
    const blocks = slackBody(body("*all* _of_ `it` ~now~")).blocks;
    const markup = [
      ...texts(
        blocks.flatMap((block) => ("fields" in block ? block.fields : "elements" in block ? block.elements : [])),
      ),
    ];

    expect(markup.filter((text) => /\*all\*|_of_|`it`|~now~/.test(text))).toEqual([]);
  });

  it("makes no link but to http", () => {
    const evil = {
      ...body("acme"),
      externalUrl: "javascript:alert(1)",
      alerts: [{ ...notice, url: "file:///etc/passwd" }],
    };

    for (const word of Object.values(words)) expect(JSON.stringify(word(evil))).not.toMatch(/javascript|passwd/);
  });
});
