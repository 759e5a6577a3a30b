import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { withinBudget } from "../../alerting/notify/budget.ts";
import type { AlertNotice, Notification } from "../../alerting/notify/notification.ts";
import { Secret } from "../../base/secret.ts";
import { startHttpSink, type HttpSink } from "../../../test/support/far-side/http-sink.ts";
import { sinkBench } from "../../../test/support/far-side/sink-bench.ts";
import { maxBodyBytes } from "../delivery.ts";
import { alertmanagerAlertsBody } from "./alerts.ts";
import { createAlertmanagerReceiver } from "./alertmanager.ts";
import { noticeOf, sample } from "../../../test/support/notifications.ts";

const nowMs = Date.UTC(2026, 0, 15, 12, 0, 5);
const signal = new AbortController().signal;
const forgotten = "2026-01-15T12:04:05.000Z";

function bodyOf(notification: Notification) {
  return alertmanagerAlertsBody(notification, nowMs, Date.parse(forgotten));
}

/** Firing and ended alerts as `alertname/slug/severity`. */
function summary(notification: Notification): { firing: string[]; ended: string[] } {
  const alerts = bodyOf(notification);
  const name = ({ labels }: (typeof alerts)[number]): string =>
    `${labels["alertname"]}/${"slug" in labels ? labels["slug"] : ""}/${labels["severity"]}`;
  return {
    firing: alerts.filter(({ endsAt }) => endsAt === forgotten).map(name),
    ended: alerts.filter(({ endsAt }) => endsAt !== forgotten).map(name),
  };
}
function withAlerts(alerts: readonly AlertNotice[]): Notification {
  return { ...sample("firing"), status: alerts.at(-1)?.status ?? "firing", alerts };
}

describe("alertmanagerAlertsBody", () => {
  const firing = noticeOf("firing");
  const rules: [string, Notification, string[], string[]][] = [
    [
      "a change of severity ends the old label set in the same request",
      sample("escalated"),
      ["FlatlineDeadAssetSpike/acme/fail"],
      ["FlatlineDeadAssetSpike/acme/warn"],
    ],
    [
      "a resolved alert of which the receiver knew another severity ends both",
      withAlerts([{ ...noticeOf("resolved"), previousSeverity: "warn" }]),
      [],
      ["FlatlineDeadAssetSpike/acme/fail", "FlatlineDeadAssetSpike/acme/warn"],
    ],
    [
      "several changes of one alert are its last state, and all before it ended",
      withAlerts([
        { ...firing, severity: "warn" },
        { ...firing, event: "escalated", previousSeverity: "warn" },
      ]),
      ["FlatlineDeadAssetSpike/acme/fail"],
      ["FlatlineDeadAssetSpike/acme/warn"],
    ],
    [
      "an alert that ended and began again within a group fires",
      withAlerts([noticeOf("resolved"), { ...firing, id: "next" }]),
      ["FlatlineDeadAssetSpike/acme/fail"],
      [],
    ],
    ["an unknown alert", sample("unknown"), ["FlatlineUnknown/acme/unknown"], []],
    [
      "a fleet verdict is one alert in place of its members', at the severity that holds",
      sample("fleet"),
      ["FlatlineFleetSpike//fail"],
      ["FlatlineFleetSpike//warn"],
    ],
    [
      "a fleet verdict's end ends its members, too",
      sample("fleet-resolved"),
      [],
      [
        "FlatlineFleetSpike//fail",
        "FlatlineFleetSpike//warn",
        "FlatlineDeadAssetSpike/acme/fail",
        "FlatlineDeadAssetSpike/globex/warn",
        "FlatlineDeadAssetSpike/globex/fail",
      ],
    ],
    [
      "an unknown alert beside a fleet verdict stays itself",
      { ...sample("fleet"), alerts: [...sample("fleet").alerts, noticeOf("unknown")] },
      ["FlatlineFleetSpike//fail", "FlatlineUnknown/acme/unknown"],
      ["FlatlineFleetSpike//warn"],
    ],
  ];
  it.each(rules)("%s", (_rule, notification, firing, ended) => {
    expect(summary(notification)).toEqual({ firing, ended });
  });

  it("says who has acknowledged what goes on", () => {
    const [alert] = bodyOf(withAlerts([{ ...firing, acknowledgedBy: "dana (ops)" }]));

    expect(alert?.annotations).toMatchObject({ acknowledgedBy: "dana (ops)" });
  });

  it("has the organization's labels, none of which takes the place of its own", () => {
    const labels = { team: "trust", severity: "none", alertname: "x", "bad-name": "y", empty: "" };
    const [alert] = bodyOf(withAlerts([{ ...firing, labels }]));

    expect(alert?.labels).toEqual({
      alertname: "FlatlineDeadAssetSpike",
      check: "dead-asset-spike",
      slug: "acme",
      severity: "fail",
      team: "trust",
      incident: "41",
    });
  });
});

describe("createAlertmanagerReceiver", () => {
  const first = sinkBench();
  let starting: HttpSink;

  beforeEach(async () => {
    starting = await startHttpSink((response, _request, index) =>
      response.writeHead(index === 0 ? 503 : 200).end("starting"),
    );
  });
  afterEach(() => starting.close());

  function receiverOf(listening: readonly HttpSink[], path = "") {
    const url = listening.map((sink) => new Secret(`${sink.url}${path}`));
    const options = { type: "alertmanager", name: "am", url, resendIntervalMs: 60_000 } as const;
    return createAlertmanagerReceiver(options, first);
  }

  it("posts to every address, and asks for another attempt until all have accepted", async () => {
    const receiver = receiverOf([first, starting], "/prefix/");

    const notification = { ...sample("firing"), generatedAtMs: nowMs };
    const before = await receiver.deliver(notification, { signal, nowMs });
    const second = await receiver.deliver(notification, { signal, nowMs });

    expect(before).toMatchObject({ kind: "retry", error: expect.stringContaining("1 of 2") });
    expect(second).toMatchObject({ kind: "accepted" });
    expect(receiver.resendIntervalMs).toBe(60_000);
    for (const { requests } of [first, starting]) {
      expect(requests).toHaveLength(2);
      expect(requests[0]).toMatchObject({ method: "POST", path: "/prefix/api/v2/alerts" });
      expect(JSON.parse(requests[0]?.body ?? "")).toMatchObject([
        { startsAt: "2026-01-15T00:20:00.000Z", endsAt: new Date(nowMs + 4 * 60_000).toISOString() },
      ]);
    }
  });

  it.each([
    ["one of two that is down is waited for at first", "503", 4_999, "retry", "1 of 2"],
    ["and holds nothing up after some seconds", "503", 5_000, "accepted", "1 of 2 accepted"],
    ["nor after a clock that was set back", "503", -1, "accepted", "1 of 2 accepted"],
    ["a refusal is reported, however old it is", "400", 60_000, "rejected", "1 of 2"],
  ])("%s", async (_rule, status, ageMs, kind, says) => {
    const failing = await startHttpSink((response) => response.writeHead(Number(status)).end("no"));
    const receiver = receiverOf([failing, first]);

    const notification = { ...sample("firing"), generatedAtMs: nowMs - ageMs };
    const outcome = await receiver.deliver(notification, { signal, nowMs });
    await failing.close();

    expect(outcome.kind).toBe(kind);
    expect(outcome.kind === "accepted" ? outcome.detail : outcome.error).toContain(says);
    expect(failing.requests).toHaveLength(1);
  });

  describe("of any number of alerts", () => {
    const labels = { team: "x".repeat(2_000) };
    const alerts = Array.from({ length: 1_000 }, (_, index) => ({
      ...noticeOf("firing"),
      id: `${index}`,
      slug: `org-${index}`,
      labels,
    }));

    it("says each once, in requests of at most a mebibyte", async () => {
      const outcome = await receiverOf([first]).deliver(withAlerts(alerts), { signal, nowMs });

      const bodies = first.requests.map(({ body }) => body);
      const slugs = bodies.flatMap((body) =>
        (JSON.parse(body) as { labels: { slug: string } }[]).map((alert) => alert.labels.slug),
      );
      expect(outcome.kind).toBe("accepted");
      expect(bodies.length).toBeGreaterThan(1);
      for (const body of bodies) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(maxBodyBytes);
      expect(slugs.toSorted()).toEqual(alerts.map(({ slug }) => slug).toSorted());
    });

    it("has the group split, so that each alert keeps what was found", () => {
      const parts = withinBudget(alerts, withAlerts, receiverOf([first]).budget ?? null);

      expect(parts.length).toBeGreaterThan(1);
      expect(parts.flatMap((part) => part.alerts)).toEqual(alerts);
    });
  });

  it("is tried again for as long as none accepts", async () => {
    const receiver = receiverOf([starting]);

    const outcome = await receiver.deliver({ ...sample("firing"), generatedAtMs: 0 }, { signal, nowMs });

    expect(outcome.kind).toBe("retry");
  });
});
