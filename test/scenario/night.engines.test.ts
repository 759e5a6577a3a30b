import { afterEach, describe, expect, it } from "vitest";

import type { Notification } from "../../src/alerting/notify/notification.ts";
import { minuteMs, secondMs } from "../../src/base/time.ts";
import { pagerdutyEvents } from "../../src/receivers/pagerduty/pagerduty.ts";
import { slackBody, type SlackBody } from "../../src/receivers/slack/slack.ts";
import { createAlertingWorld, type AlertingWorld } from "../support/alerting-world.ts";
import { storeEngines } from "../support/store/engines.ts";

const carrier = "reason=captcha_page";
const slugs = Array.from({ length: 300 }, (_, index) => `org-${String(index).padStart(3, "0")}`);
const broken = slugs.slice(0, 120);

let world: AlertingWorld;

/** All that a reader of Slack sees of it, line by line. */
function linesOf({ blocks }: SlackBody): string[] {
  return blocks.flatMap((block) => {
    if (block.type === "divider") return [];
    if (block.type === "context") return block.elements.map(({ text }) => text);
    return "fields" in block ? block.fields.map(({ text }) => text.replace("\n", " ")) : block.text.text.split("\n");
  });
}

const slackOf = (notification: Notification | undefined): string[] =>
  notification === undefined ? [] : linesOf(slackBody(notification));

/** A captcha meets the checker: 120 of 300 organizations break within 30 s, and stay so for an hour. */
async function live(): Promise<void> {
  for (const slug of slugs) await world.run(slug, "ok");
  await world.advance(5 * minuteMs);
  for (let first = 0; first < broken.length; first += 24) {
    for (const slug of broken.slice(first, first + 24)) await world.run(slug, "fail", { count: 600, carrier });
    await world.advance(6 * secondMs);
  }
  await world.advance(10 * minuteMs);
}

async function mend(): Promise<void> {
  for (const slug of broken) await world.run(slug, "ok");
  await world.advance(10 * minuteMs);
}

describe.each(storeEngines)("on $engine,", ({ engine }) => {
  afterEach(() => world.close());

  it("120 of 300 organizations that break at once are one incident, and a few messages to each receiver", async () => {
    world = await createAlertingWorld({
      engine,
      slugs,
      receivers: [{ name: "chat", sendActs: true }, { name: "pager" }],
      settings: { fleet: { minOrganizations: 3, ratio: "auto" } },
    });
    await live();

    // The verdict is told at once, and who joins when the incident has doubled.
    expect(world.notifications("chat").map(({ alerts }) => alerts.length)).toEqual([24, 96]);
    expect(slackOf(world.notifications("chat").at(-1))).toMatchInlineSnapshot(`
      [
        "■ 120 organizations spike from one cause: the first 6 began together",
        "By chance that does not happen. Likely cause: the liveness checker. 85 % of the excess has reason=captcha_page, usually 5 %. 96 new here.",
        "*Firing* 120 of 120 organizations",
        "*Deaths* 72,000, 1,200 expected (60.0×)",
        "*Gates* 120 shut",
        "*Carried by* URL 75 % (3,600), EMAIL 25 % (1,200)",
        "• org-000: 590 more deaths than usual (60.0×)",
        "• org-001: 590 more deaths than usual (60.0×)",
        "• org-002: 590 more deaths than usual (60.0×)",
        "• org-003: 590 more deaths than usual (60.0×)",
        "• org-004: 590 more deaths than usual (60.0×)",
        "• +115 more",
      ]
    `);
    const [incident] = await world.store.incidents.open();
    expect(incident).toMatchObject({ carrier, verdict: { by: "chance" } });
    expect(await world.store.incidents.open()).toHaveLength(1);

    await world.actOn(1, { kind: "acknowledge", comment: "looking" });
    await world.settle();
    expect(slackOf(world.notifications("chat").at(-1))).toMatchInlineSnapshot(`
      [
        "■ acknowledged: 120 organizations",
        "kim has it: no more reminders: looking.",
        "• acknowledged: org-000",
        "• acknowledged: org-001",
        "• acknowledged: org-002",
        "• acknowledged: org-003",
        "• acknowledged: org-004",
        "• +115 more",
      ]
    `);

    await mend();
    expect(slackOf(world.notifications("chat").at(-1))).toMatchInlineSnapshot(`
      [
        "○ Incident 1 is over after 10 min: 120 organizations",
        "All rates are back under their thresholds. That does not clear the deaths that were counted. 120 gates are still shut: judge it, so that its deaths are acted on or undone.",
        "*Firing* 0 of 120 organizations",
        "*Deaths* 72,000, 1,200 expected (60.0×)",
        "*Gates* 120 shut",
      ]
    `);
    expect(world.notifications("chat")).toHaveLength(4);

    // PagerDuty knows one incident, from its first message to its last.
    const events = world.notifications("pager").flatMap(pagerdutyEvents);
    expect(new Set(events.map(({ dedup_key: key }) => key))).toEqual(new Set([incident?.id]));
    expect(events.map(({ event_action: action }) => action)).toEqual(["trigger", "trigger", "resolve"]);
    expect(await world.store.incidents.open()).toEqual([]);
  });

  it.each(["record", "form", "acknowledge"] as const)(
    "nothing of it is lost or said under another id when the process is killed as it would %s",
    async (point) => {
      world = await createAlertingWorld({ engine, slugs: slugs.slice(0, 9), receivers: [{ name: "chat" }] });
      world.crashAt(point);
      for (const slug of slugs.slice(0, 4)) await world.run(slug, "fail", { carrier });
      await world.advance(2 * minuteMs);
      world.crashAt(point);
      for (const slug of slugs.slice(0, 4)) await world.run(slug, "ok");
      await world.advance(5 * minuteMs);

      const said = world.sent("chat").flat().toSorted();
      expect(said).toEqual(
        slugs
          .slice(0, 4)
          .flatMap((slug) => [`firing ${slug} fail`, `resolved ${slug} fail`])
          .toSorted(),
      );
      expect(new Set(world.notifications("chat").map(({ incident }) => incident?.id)).size).toBe(1);
    },
  );
});
