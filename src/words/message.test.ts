import { describe, expect, it } from "vitest";

import type { AlertNotice, Notification } from "../alerting/notify/notification.ts";
import { testIncident } from "../alerting/notify/test-notification.ts";
import { noticeOf, notifications, sample } from "../../test/support/notifications.ts";
import { latestNotices, messageOf } from "./message.ts";

const samples: Readonly<Record<string, Notification>> = notifications();
const page = "https://flatline.example.com";

/** The message of a sample with a changed alert. */
function said(kind: string, given: Partial<AlertNotice> = {}) {
  return messageOf({ ...sample(kind), alerts: [{ ...noticeOf(kind), ...given }] });
}

describe("a message", () => {
  it("of an escalation says that nobody has acknowledged it, and since when", () => {
    expect(said("firing", { reason: "escalation" }).text).toMatch(
      /Nobody has acknowledged incident 41 for 11 h 40 min\./,
    );
  });

  it("says who has acknowledged it, and when", () => {
    const { incident, ...rest } = sample("fleet");
    if (incident === null) throw new Error("the sample has no incident");

    const headline = { ...incident.headline, acknowledgedAtMs: incident.startedAtMs };
    const { text } = messageOf({ ...rest, incident: { ...incident, acknowledgedBy: "dana (ops)", headline } });
    expect(text).toMatch(/dana \(ops\) has acknowledged it, 00:20\./);
  });

  const dana = { by: "dana", comment: null, atMs: 0 };
  it.each([
    ["while it fires and nobody has judged it", "fleet", {}, /^What to do: Open some .+ Judge incident 41 .+ now; /],
    ["at the end, while takedowns wait for a judgement", "fleet-resolved", {}, /^What to do: Judge .+ Each verdict /],
    ["where only a release allows them", "fleet-resolved", { heldToRelease: 8 }, /^What to do: Release the takedowns /],
    [
      "judged checker, until the alerts end",
      "fleet",
      { heldToEnd: 8, judgement: { ...dana, verdict: "checker" } },
      /^What to do: Repair the liveness checker\.$/,
    ],
    ["of gates, where nobody uses them: nothing", "fleet-resolved", { held: 0, heldToRelease: 8 }, /^$/],
    ["judged real: nothing", "fleet", { held: 0, judgement: { ...dana, verdict: "real" } }, /^$/],
    ["ended and allowed: nothing", "fleet-resolved", { held: 0 }, /^$/],
  ] as const)("says what is left to do: %s", (_name, kind, facts, todo) => {
    const { incident, ...rest } = sample(kind);
    if (incident === null) throw new Error("the sample has no incident");

    const headline = { ...incident.headline, ...facts };
    expect(messageOf({ ...rest, incident: { ...incident, headline } }).todo).toMatch(todo);
  });

  it("of the end of a receiver's part says nothing of when the deaths of others end", () => {
    const { incident, ...rest } = sample("fleet-resolved");
    if (incident === null) throw new Error("the sample has no incident");

    const excess = {
      state: "stopped",
      deathsLastHour: 0,
      usualPerHour: 1,
      quietSinceMs: 0,
      expectedEndAtMs: 1,
    } as const;
    const headline = { ...incident.headline, endedAtMs: null, stoppedAtMs: null, excess };
    const { facts } = messageOf({ ...rest, incident: { ...incident, endedAtMs: null, headline } });
    expect(facts.map(({ label }) => label)).not.toContain("It ends by");
  });

  it("says how many began since the last one, and not of those that are told late", () => {
    const { alerts } = sample("fleet");
    const late = alerts.map((alert) => ({ ...alert, reason: "escalation" }));

    expect(messageOf(sample("fleet")).text).toMatch(/2 of them began since the last message\./);
    expect(messageOf({ ...sample("fleet"), alerts: late }).text).not.toMatch(/began since/);
  });

  it("says dead assets where assets are counted", () => {
    const { result } = noticeOf("resolved");
    const counted = result === null ? null : { ...result, observed: { ...result.observed, counting: "assets" } };

    expect(said("resolved", { result: counted }).text).toContain("Its peak was fail with 120 dead assets,");
  });

  it("has the findings, each with what it is about unless that is in its message, and how many were left out", () => {
    const { result } = noticeOf("firing");
    if (result === null) throw new Error("the sample has no result");
    const finding = { kind: "k", severity: "fail" } as const;
    const findings = [
      { ...finding, ref: null, message: "the count" },
      { ...finding, ref: null, message: "many are dead" },
      { ...finding, ref: "URL", message: "most of them" },
      { ...finding, ref: "EMAIL", message: "few of type EMAIL" },
    ];
    const { lists } = said("firing", { result: { ...result, findings, findingsOmitted: 4_900 } });

    expect(lists[0]).toEqual({
      heading: "What these deaths share",
      items: ["many are dead", "URL: most of them", "few of type EMAIL"],
      more: 4_900,
    });
  });

  it("marks tests and sample incidents", () => {
    const [begin, end] = testIncident({
      newId: () => "n",
      receiver: "ops",
      recipient: null,
      nowMs: 0,
      externalUrl: null,
    }).map((one) => messageOf(one));

    expect([begin?.title, end?.title]).toEqual([
      "[TEST] test: 120 deaths in 24 h, 4.0 expected (30.0×).",
      "[TEST] test spiked for 24 min.",
    ]);
    expect(begin?.text).toContain("This is a test: its numbers are made up.");
    expect(messageOf(sample("test")).title).toMatch(/^\[TEST\]/);
  });

  it("of a comment quotes it", () => {
    const act = { by: "dana", comment: "rolled back", atMs: 0 };

    expect(said("judged", { event: "commented", act })).toMatchObject({
      title: "acme: comment by dana",
      text: "dana says: «rolled back».",
    });
  });

  it("of a judgement of many says how many gates it has opened", () => {
    const [judged, opened] = [noticeOf("judged"), sample("judged-released").alerts.at(-1)];
    if (opened === undefined) throw new Error("the samples have no acts");
    const of = (notice: AlertNotice, slug: string): AlertNotice => ({ ...notice, slug, id: slug, judgement: checker });
    const checker = { verdict: "checker", comment: null, by: "kim", note: null, atMs: 0 } as const;
    const alerts = [of(opened, "a"), of(opened, "b"), of(judged, "c")];

    expect(messageOf({ ...sample("judged"), alerts })).toMatchObject({
      title: "3 organizations: judged checker by kim, takedowns of 2 organizations allowed",
      text: "The checker was wrong, says kim: «the captcha page of hxxps://evil[.]example/login».",
    });
  });

  it("has the link to its page first, then what can be done, then the application", () => {
    const acts = [{ label: "Acknowledge", url: `${page}/act` }];
    const linksOf = (notification: Notification) =>
      messageOf(notification, { acts }).links.map(({ label, url }) => `${label} ${url}`);

    expect(linksOf(sample("firing"))).toEqual([
      `Open incident 41 ${page}/incidents/41`,
      `Acknowledge ${page}/act`,
      "Open acme https://app.example.com/o/acme",
    ]);
    expect(linksOf({ ...sample("group"), externalUrl: null })).toEqual([`Acknowledge ${page}/act`]);
    const own = { ...sample("firing"), alerts: [{ ...noticeOf("firing"), url: `${page}/o/acme` }] };
    expect(linksOf(own)).toHaveLength(2);
  });

  it.each(Object.keys(samples))("fits a phone, and says nothing that says nothing: %s", (kind) => {
    const { title, text, facts } = messageOf(sample(kind));

    expect(title.length).toBeLessThanOrEqual(100);
    expect(text).not.toContain(title);
    expect(facts.filter((fact) => /^(?:–|null|)$/.test(fact.text))).toEqual([]);
  });
});

describe("latestNotices", () => {
  it("tells of each alert once: where it stands now, the worst first, resolved ones last", () => {
    const firing = noticeOf("firing");
    const warning = { ...firing, severity: "warn", previousSeverity: "ok" } as const;
    const escalated = { ...firing, event: "escalated", previousSeverity: "warn" } as const;
    const unknown = noticeOf("unknown");
    const resolved = { ...noticeOf("resolved"), id: "other" };

    const latest = latestNotices([resolved, warning, unknown, escalated]);

    expect(
      latest.map(({ id, event, severity, previousSeverity }) => ({ id, event, severity, previousSeverity })),
    ).toEqual([
      { id: firing.id, event: "firing", severity: "fail", previousSeverity: "ok" },
      { id: unknown.id, event: "unknown", severity: "unknown", previousSeverity: "ok" },
      { id: "other", event: "resolved", severity: "fail", previousSeverity: "fail" },
    ]);
  });
});
