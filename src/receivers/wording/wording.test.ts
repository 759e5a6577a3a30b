import { describe, expect, it } from "vitest";

import type { AlertNotice, Notification } from "../../alerting/notify/notification.ts";
import { durationText, instantText, shareText } from "../../words/numbers.ts";
import { testIncident } from "../../alerting/notify/test-notification.ts";
import { sampleNotifications } from "../sample-notifications.ts";
import { previewOf, trimMessage } from "./message.ts";
import { noticeDetails } from "./notice.ts";
import { cutList, plainText } from "./text.ts";
import { latestNotices, messageOf } from "./wording.ts";

const samples = sampleNotifications();
const spaced = (text: string): string => text.replaceAll("\u00A0", " ");

function sample(kind: string): Notification {
  const notification = samples[kind];
  if (notification === undefined) throw new Error(`no sample ${kind}`);
  return notification;
}
function noticeOf(kind: string): AlertNotice {
  const [notice] = sample(kind).alerts;
  if (notice === undefined) throw new Error(`no notice in ${kind}`);
  return notice;
}
function sentence(kind: string, given: Partial<AlertNotice> = {}): string {
  const notification = { ...sample(kind), alerts: [{ ...noticeOf(kind), ...given }] };
  return spaced(messageOf(notification).sections[0]?.sentence ?? "");
}

describe("sentences", () => {
  it.each([
    ["firing", /Nobody has acknowledged incident 41 for 11 h 40 min\. Detected /],
    ["unknown", /^No result for 11 h 40 min: .* Nobody has acknowledged it since 15 Jan 00:20 UTC\.$/],
  ])("of an escalation say that nobody has acknowledged it, and since when: %s", (kind, said) => {
    const notice = { ...noticeOf(kind), reason: "escalation" };

    expect(sentence(kind, notice)).toMatch(said);
  });

  it("say that nothing was expected instead of a ratio", () => {
    const counts = { currentCount: 22, baselineCount: 0, expectedCount: 0, ratio: null };

    expect(sentence("foreign-keys", { counts })).toContain("22 deaths, none expected.");
  });

  it("say dead assets where assets are counted: title, sentence and peak", () => {
    const { result } = noticeOf("firing");
    const counted = result === null ? null : { ...result, observed: { ...result.observed, counting: "assets" } };
    const notice = { ...noticeOf("firing"), result: counted };

    expect(messageOf({ ...sample("firing"), incident: null, alerts: [notice] }).title).toContain("5,119 dead assets");
    expect(sentence("resolved", { result: counted })).toContain("Its peak was fail with 5,119 dead assets,");
  });

  it("are followed by findings, each with what it is about unless that is nothing or in its message", () => {
    const { result } = noticeOf("firing");
    if (result === null) throw new Error("the sample has no result");
    const finding = { kind: "k", severity: "fail" } as const;
    const findings = [
      { ...finding, ref: null, message: "many are dead" },
      { ...finding, ref: "URL", message: "most of them" },
      { ...finding, ref: "EMAIL", message: "few of type EMAIL" },
    ];
    const notification = { ...sample("firing"), alerts: [{ ...noticeOf("firing"), result: { ...result, findings } }] };

    expect(messageOf(notification).sections[0]?.carriers).toEqual([
      "many are dead",
      "URL: most of them",
      "few of type EMAIL",
    ]);
  });

  it("say how many findings were left out, also where none is shown", () => {
    const { result } = noticeOf("firing");
    if (result === null) throw new Error("the sample has no result");
    const [own] = result.findings;
    if (own === undefined) throw new Error("the sample has no finding");
    const more = { ...noticeOf("firing"), result: { ...result, findings: [own], findingsOmitted: 4_900 } };
    const message = trimMessage(messageOf({ ...sample("firing"), alerts: [more] }), 1);

    expect(message.sections[0]?.carriers).toEqual(["+4,900 more"]);
  });

  it("of an end say nothing of gates and judgements where nobody goes by gates", () => {
    const ended = sample("fleet-resolved");
    const { incident: shown } = ended;
    const incident = shown === null ? null : { ...shown, headline: { ...shown.headline, held: 0, opened: 0 } };
    const text = JSON.stringify(messageOf({ ...ended, incident }));

    expect(JSON.stringify(messageOf(ended))).toMatch(/Takedowns of 8 organizations are on hold/);
    expect(text).toContain("14 organizations spiked together");
    expect(text).not.toMatch(/[Gg]ate|[Tt]akedown|judge/);
  });

  it("mark tests and sample incidents", () => {
    const [begin, end] = testIncident({ newId: () => "n", receiver: "ops", nowMs: 0, externalUrl: null }).map((one) =>
      messageOf(one),
    );
    expect([begin?.title, end?.title]).toEqual([
      "[TEST] test: 120 deaths in 24 h, 4.0 expected (30.0×).",
      "[TEST] test spiked for 24 min.",
    ]);
    expect(begin?.sections[0]?.sentence).toContain("This is a test: its numbers are made up.");
    expect(messageOf(sample("test")).title).toMatch(/^\[TEST\]/);
  });

  it("of a comment quote it", () => {
    const notices = sample("released").alerts.map((notice): AlertNotice => ({
      ...notice,
      event: "commented",
      act: { by: "dana", comment: "rolled back", atMs: 0 },
    }));
    const message = messageOf({ ...sample("released"), alerts: notices });

    expect(previewOf(messageOf({ ...sample("released"), alerts: notices.slice(0, 1) }))).toEqual([
      "■ commented: acme",
      "dana says: rolled back.",
    ]);
    expect(previewOf(message)).toEqual(["■ commented: acme, 2 alerts", "dana says: rolled back."]);
  });

  it("of a judgement of many say how many gates it has opened", () => {
    const [judged] = sample("judged").alerts;
    const opened = sample("judged-released").alerts.at(-1);
    if (judged === undefined || opened === undefined) throw new Error("the samples have no acts");
    const of = (notice: AlertNotice, slug: string): AlertNotice => ({ ...notice, slug, id: slug, judgement: checker });
    const checker = { verdict: "checker", comment: null, by: "kim", note: null, atMs: 0 } as const;
    const alerts = [of(opened, "a"), of(opened, "b"), of(judged, "c")];

    expect(previewOf(messageOf({ ...sample("judged"), alerts }))).toEqual([
      "■ judged checker: 3 organizations, takedowns of 2 organizations allowed",
      "The checker was wrong, says kim: the captcha page of hxxps://evil[.]example/login.",
    ]);
  });
});

describe("a message", () => {
  const linksOf = (kind: string, given: Partial<Notification> = {}): string[] => {
    const { sections, links } = messageOf({ ...sample(kind), ...given }, [
      { label: "Acknowledge", url: "https://flatline.example.com/act" },
    ]);
    return [...sections.flatMap((section) => section.links), ...links].map(({ label, url }) => `${label} ${url}`);
  };
  const page = "https://flatline.example.com";

  it("of one alert has the link to its page first, then what can be done, then the application", () => {
    expect(linksOf("firing")).toEqual([
      `Open incident 41 ${page}/incidents/41`,
      `Acknowledge ${page}/act`,
      "Open acme https://app.example.com/o/acme",
    ]);
  });

  it("has no link to a page that nobody has named", () => {
    const { incident } = sample("group");
    const unnamed = incident === null ? null : { ...incident, url: null };
    expect(linksOf("group", { externalUrl: null, incident: unnamed })).toEqual([
      "Acknowledge https://flatline.example.com/act",
    ]);
  });

  it("does not lead to the organization's page beside the alert's", () => {
    const alerts = [{ ...noticeOf("firing"), url: `${page}/o/acme` }];

    expect(linksOf("firing", { alerts })).toHaveLength(2);
  });

  it.each(Object.keys(samples))("fits a phone in two lines, and neither repeats the other: %s", (kind) => {
    const [first, second] = previewOf(messageOf(sample(kind)));

    expect(first.length).toBeLessThanOrEqual(100);
    expect(second.length).toBeGreaterThan(0);
    expect(second.length).toBeLessThanOrEqual(160);
    expect(second).not.toBe(first);
  });

  it.each(Object.keys(samples))("says nothing that says nothing: %s", (kind) => {
    const { sections, facts } = messageOf(sample(kind));
    const shown = [...facts, ...sections.flatMap((section) => section.facts)];

    expect(shown.filter(({ value }) => value === "" || value === "–" || value === "null")).toEqual([]);
    expect(shown.map(({ name }) => name)).not.toContain("Since");
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

describe("numbers", () => {
  it.each([
    [0, "0 s"],
    [26 * 60_000 + 5_000, "26 min"],
    [11 * 3_600_000 + 40 * 60_000, "11 h 40 min"],
    [37 * 3_600_000, "1 d 13 h"],
    [48 * 3_600_000 + 60_000, "2 d"],
  ])("%d ms are %s", (durationMs, text) => {
    expect(spaced(durationText(durationMs))).toBe(text);
  });

  it("of shares", () => {
    expect([spaced(shareText(0.784)), spaced(shareText(0.001))]).toEqual(["78 %", "<1 %"]);
  });

  it("of instants have a year when it is not the reader's", () => {
    const atMs = Date.UTC(2025, 11, 31, 23, 59);

    expect(spaced(instantText(atMs, Date.UTC(2026, 0, 1)))).toBe("31 Dec 2025 23:59 UTC");
    expect(spaced(instantText(atMs, atMs))).toBe("31 Dec 23:59 UTC");
  });
});

describe("texts", () => {
  it("of lists end in what is missing", () => {
    const budget = { maxItems: 2, maxItemLength: 3, maxLength: 100 };

    expect(cutList(["a", "b"], budget)).toEqual(["a", "b"]);
    expect(cutList(["abcdef", "b", "c", "d"], budget)).toEqual(["ab…", "b", "+2 more"]);
    expect(
      cutList(
        Array.from({ length: 6000 }, () => "abc"),
        { ...budget, maxItems: 10, maxLength: 7 },
      ),
    ).toEqual(["abc", "abc", "+5,998 more"]);
  });

  it("of others are one line without controls", () => {
    expect(plainText(" a\r\n\tb\u202Ec\u0000\uD800 ")).toBe("a b c \uFFFD");
  });
});

describe("the judgement that undone deaths propose", () => {
  const proposal = /(\d+ %|\S+) were found alive: judge as checker\?/;
  const judgement = { verdict: "real", comment: null, by: "kim", note: null, atMs: 0 } as const;

  function detailsOf(kind: "evidence" | "regret", observed: object, given: Partial<AlertNotice> = {}): string {
    const notice = noticeOf(kind);
    if (notice.result === null) throw new Error("no result");
    const result = { ...notice.result, observed: { ...notice.result.observed, ...observed } };
    return noticeDetails({ ...notice, result, ...given }) ?? "";
  }

  it.each([
    ["half of a spike's deaths", "evidence", { revivedCount: 3, revivedShare: 0.5 }, "50 %"],
    ["more than half of them", "evidence", { revivedCount: 27, revivedShare: 27 / 50 }, "54 %"],
    ["half of what the regret check looked at", "regret", { longRevived: 44, longShare: 0.5 }, "50 %"],
  ] as const)("is said of %s", (_what, kind, observed, share) => {
    expect(proposal.exec(detailsOf(kind, observed))?.[1]).toBe(share);
  });

  it.each([
    ["less than half, that rounds to it", "evidence", { revivedCount: 497, revivedShare: 497 / 1_000 }, {}],
    ["two deaths", "evidence", { revivedCount: 2, revivedShare: 1 }, {}],
    ["a result without a share", "evidence", { revivedCount: 312 }, {}],
    ["an alert that is judged", "evidence", { revivedCount: 27, revivedShare: 0.54 }, { judgement }],
    ["an alert that is over", "evidence", { revivedCount: 27, revivedShare: 0.54 }, { status: "resolved" }],
  ] as const)("is not said of %s", (_what, kind, observed, given) => {
    expect(detailsOf(kind, observed, given)).not.toMatch(proposal);
  });
});
