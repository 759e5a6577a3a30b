import { describe, expect, it } from "vitest";

import type { Notification } from "../alerting/notify/notification.ts";
import { createLogger } from "../base/logger.ts";
import { alertmanagerAlertsBody } from "./alertmanager/alerts.ts";
import { discordBody } from "./discord/discord.ts";
import { mailOf } from "./email/email.ts";
import { createLogReceiver } from "./log/log.ts";
import { teamsBody } from "./msteams/msteams.ts";
import { pagerdutyEvents } from "./pagerduty/pagerduty.ts";
import { notificationPayload } from "./payload.ts";
import { notifications, sample } from "../../test/support/notifications.ts";
import { receiverTypes } from "./receivers.ts";
import { slackBody } from "./slack/body.ts";

const samples: Readonly<Record<string, Notification>> = notifications();
const sentAtMs = Date.UTC(2026, 0, 15, 12, 0, 5);
const resendMs = 60_000;

// An incident of one organization, the end of one of many, and an error: other samples differ in words only.
const slackForms = ["firing", "fleet-resolved", "unknown"];
// Chats share the words of Slack: one message shows the format of each.
const chatForms = ["group"];
// Labels differ by check and kind; an end has the labels that were sent.
const alertForms = ["escalated", "fleet-resolved", "healthcheck"];
// What fires with and without one cause, and what ends with an act.
const payloadForms = ["fleet", "unknown", "judged-released"];

const bodies: readonly (readonly [string, readonly string[], (notification: Notification) => unknown])[] = [
  ["slack", slackForms, (notification) => slackBody(notification)],
  ["discord", chatForms, (notification) => discordBody(notification)],
  ["msteams", chatForms, (notification) => teamsBody(notification)],
  ["webhook", payloadForms, notificationPayload],
  ["pagerduty", alertForms, pagerdutyEvents],
  [
    "alertmanager",
    alertForms,
    (notification) => alertmanagerAlertsBody(notification, sentAtMs, sentAtMs + 4 * resendMs),
  ],
];

describe("goldens", () => {
  it("are of every type of receiver", () => {
    expect([...bodies.map(([type]) => type), "email", "log"].toSorted()).toEqual(receiverTypes.toSorted());
  });

  it.each(bodies)("of %s", async (type, kinds, bodyOf) => {
    const texts = kinds.map((kind) => `== ${kind}\n${compactJson(JSON.parse(JSON.stringify(bodyOf(sample(kind)))))}\n`);

    await expect(texts.join("\n")).toMatchFileSnapshot(`goldens/${type}.txt`);
  });

  it("of the words that chats and mails share, as mails", async () => {
    const texts = Object.entries(samples).map(([kind, notification]) => {
      const { subject, text } = mailOf(notification);
      return `== ${kind}\n${subject}\n${text}`;
    });

    await expect(texts.join("\n")).toMatchFileSnapshot("goldens/words.txt");
  });

  it("of the log", async () => {
    const lines: string[] = [];
    const write = (line: string): void => void lines.push(line);
    const logger = createLogger({ level: "info", format: "json", pretty: () => "" }, write);
    const receiver = createLogReceiver({ type: "log", name: "console" }, { logger });

    for (const [kind, notification] of Object.entries(samples)) {
      lines.push(`== ${kind}\n`);
      const outcome = await receiver.deliver(notification, { signal: new AbortController().signal, nowMs: sentAtMs });
      expect(outcome).toEqual({ kind: "accepted", detail: "logged" });
    }

    const text = lines.map((line) => line.replace(/"time":"[^"]+",/, "")).join("");
    await expect(text).toMatchFileSnapshot("goldens/log.txt");
  });
});

function compactJson(value: unknown, indent = ""): string {
  const flat = JSON.stringify(value);
  if (typeof value !== "object" || value === null || indent.length + flat.length <= 160) return flat;
  const inner = `${indent}  `;
  const [open, close, items] = Array.isArray(value)
    ? ["[", "]", value.map((item) => compactJson(item, inner))]
    : ["{", "}", Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${compactJson(item, inner)}`)];
  return `${open}\n${items.map((item) => `${inner}${item}`).join(",\n")}\n${indent}${close}`;
}
