import { describe, expect, it } from "vitest";

import { createLogger } from "../base/logger.ts";
import { labelledAlerts } from "./alertmanager/alerts.ts";
import { alertmanagerAlertsBody, alertmanagerWebhookBody } from "./alertmanager/body.ts";
import { discordBody } from "./discord/discord.ts";
import { mailOf } from "./email/email.ts";
import { createLogReceiver } from "./log/log.ts";
import { teamsBody } from "./msteams/msteams.ts";
import { pagerdutyEvents } from "./pagerduty/pagerduty.ts";
import { notificationPayload } from "./payload.ts";
import { sampleNotifications } from "./sample-notifications.ts";
import { slackBody } from "./slack/slack.ts";
import { isActNotice } from "./wording/acts.ts";

const samples = Object.entries(sampleNotifications());
const sentAtMs = Date.UTC(2026, 0, 15, 12, 0, 5);
const resendMs = 60_000;

describe.each(samples)("%s", (kind, notification) => {
  // The configuration refuses `sendActs` for these.
  const ofAlertsOnly: readonly (readonly [string, unknown])[] = [
    ["webhook-alertmanager", alertmanagerWebhookBody(notification)],
    ["alertmanager", alertmanagerAlertsBody(labelledAlerts(notification, sentAtMs), sentAtMs + 4 * resendMs)],
    ["pagerduty", pagerdutyEvents(notification)],
  ];
  const bodies: readonly (readonly [string, unknown])[] = [
    ["webhook", notificationPayload(notification)],
    ["slack", slackBody(notification)],
    ["discord", discordBody(notification)],
    ["msteams", teamsBody(notification)],
    ["email", mailOf(notification)],
    ...(notification.alerts.some(isActNotice) ? [] : ofAlertsOnly),
  ];
  it.each(bodies)("as %s", async (type, body) => {
    await expect(`${JSON.stringify(body, null, 2)}\n`).toMatchFileSnapshot(`goldens/${type}.${kind}.json`);
  });

  it("as log", async () => {
    const lines: string[] = [];
    const logger = createLogger({
      level: "info",
      format: "json",
      pretty: () => "",
      write: (line) => void lines.push(line),
    });
    const receiver = createLogReceiver({ type: "log", name: "console" }, { logger });

    const outcome = await receiver.deliver(notification, { signal: new AbortController().signal, nowMs: sentAtMs });

    expect(outcome).toEqual({ kind: "accepted", detail: "logged" });
    const text = lines.map((line) => line.replace(/"time":"[^"]+",/, "")).join("");
    await expect(text).toMatchFileSnapshot(`goldens/log.${kind}.ndjson`);
  });
});
