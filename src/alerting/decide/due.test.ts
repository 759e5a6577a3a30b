import { beforeEach, describe, expect, it } from "vitest";

import { hourMs, minuteMs, secondMs } from "../../base/time.ts";
import type { Severity } from "../../contract/severity.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import type { Incident } from "../../store/alerts/incidents.ts";
import type { QueuedAlert, QueuedIncident } from "../../store/alerts/queued.ts";
import type { AlertPolicy, AlertTarget, ReceiverRoute } from "../settings.ts";
import type { DueSettings, HeldAlert } from "./difference.ts";
import { due } from "./due.ts";

const startMs = Date.parse("2026-11-02T08:00:00.000Z");
const policy: AlertPolicy = {
  forMs: 0,
  keepFiringForMs: 0,
  unknownAfter: 3,
  repeatIntervalMs: 4 * hourMs,
  minBaselineCoverage: 0,
};
const plain: Incident = {
  id: "i1",
  number: 1,
  family: "deaths",
  startedAtMs: startMs,
  endedAtMs: null,
  firstFiredAtMs: startMs,
  carrier: null,
  verdict: null,
  outlived: 0,
  secondOpinion: null,
};
const verdict = { startsAtMs: startMs, together: 3, usual: 0, probability: 0, organizations: 9 };
const ops: ReceiverRoute = { name: "ops", minSeverity: "warn", sendResolved: true, sendUnknown: true, match: null };

let nowMs: number;
let incident: Incident;
let alerts: Map<string, HeldAlert>;
let silences: { readonly slug: string; readonly fromMs: number; untilMs: number }[];
let routes: ReceiverRoute[];
let afterMs: number;
let repeatIntervalMs: number;
let before: DueSettings["before"];
let queuedAlerts: Map<string, QueuedAlert>;
let queuedIncidents: Map<string, QueuedIncident>;
let forwardSinceMs: number;
/** The notifications: when, to whom, what. */
let told: string[];

beforeEach(() => {
  nowMs = startMs;
  incident = plain;
  alerts = new Map();
  silences = [];
  routes = [ops];
  afterMs = 0;
  repeatIntervalMs = policy.repeatIntervalMs;
  before = undefined;
  queuedAlerts = new Map();
  queuedIncidents = new Map();
  forwardSinceMs = startMs;
  told = [];
});

function target(): AlertTarget {
  const receivers = routes.map(({ name }) => ({ name, afterMs }));
  return { policy: { ...policy, repeatIntervalMs }, receivers, labels: {}, url: null };
}

/** An alert of `slug` begins to fire, or changes its severity. */
function fire(slug: string, severity: Severity = "warn", id = slug): void {
  const known = alerts.get(id);
  const changed = { firedAtMs: nowMs, firedReason: "not_ok", labels: {}, url: null, ...known?.changed };
  const alert: Alert = {
    id,
    check: "dead-asset-spike",
    slug,
    kind: severity === "unknown" ? "unknown" : "verdict",
    state: "firing",
    startsAtMs: nowMs,
    firingAtMs: nowMs,
    okSinceMs: null,
    unknownRuns: 0,
    peak: { severity, currentCount: null, atMs: nowMs },
    acknowledgement: null,
    reason: "not_ok",
    end: null,
    ...known,
    severity,
    changed: { ...changed, atMs: nowMs, reason: known === undefined ? "not_ok" : "severity_rose" },
  };
  const wasSilencedAt = (atMs: number): boolean =>
    silences.some((one) => one.slug === slug && one.fromMs <= atMs && atMs < one.untilMs);
  alerts.set(id, { ...alert, target: null, isSilenced: false, wasSilencedAt });
}

function end(id: string, reason = "back_to_ok"): void {
  const held = alerts.get(id);
  if (held === undefined) throw new Error(id);
  const over = { atMs: nowMs, isByRun: true, storedAtMs: nowMs };
  alerts.set(id, { ...held, reason, end: over });
}

function change(id: string, over: Partial<Alert>): void {
  const held = alerts.get(id);
  if (held !== undefined) alerts.set(id, { ...held, ...over });
}

const acknowledgement = { atMs: 0, by: "kim", note: null, comment: null, severity: "fail" } as const;

const judgement = { verdict: "real", comment: null, by: "kim", note: null, atMs: 0 } as const;

function dueNow() {
  const holding = silences.filter((one) => one.fromMs <= nowMs && nowMs < one.untilMs).map(({ slug }) => slug);
  const members = [...alerts.values()].map((held) => ({
    ...held,
    target: target(),
    isSilenced: held.end === null && holding.includes(held.slug),
  }));
  const settings: DueSettings = { groupWaitMs: 10 * secondMs, groupIntervalMs: minuteMs, receivers: routes };
  return due(
    [{ incident, alerts: members }],
    { alerts: [...queuedAlerts.values()], incidents: [...queuedIncidents.values()] },
    before === undefined ? settings : { ...settings, before },
    { nowMs, forwardSinceMs },
  );
}

/** Lets time pass with a look every second. */
function pass(ms: number): void {
  for (const untilMs = nowMs + ms; ; nowMs += secondMs) {
    const { notifications, queued } = dueNow();
    for (const one of queued.alerts) queuedAlerts.set(`${one.receiver} ${one.alertId}`, one);
    for (const one of queued.incidents) queuedIncidents.set(`${one.receiver} ${one.incident}`, one);
    for (const { receiver, notices } of notifications) {
      const words = notices.map(({ alertId, event, severity, reason }) => `${event} ${alertId} ${severity} ${reason}`);
      told.push(`${Math.round((nowMs - startMs) / secondMs)} ${receiver}: ${words.join(", ")}`);
    }
    if (nowMs >= untilMs) return;
  }
}

/** Gives up the receiver's last notification of these. */
function giveUp(severity: Severity | null, ...ids: readonly string[]): void {
  for (const id of ids) {
    const row = queuedAlerts.get(`ops ${id}`);
    if (row !== undefined) queuedAlerts.set(`ops ${id}`, { ...row, severity, notDeliveredAtMs: nowMs });
  }
}

describe("what is due", () => {
  it("fires, not queued: firing after groupWait; new ones of an incident at most once per groupInterval", () => {
    fire("a");
    pass(6 * secondMs);
    fire("b", "fail");
    pass(5 * secondMs);
    fire("c");
    pass(2 * minuteMs);

    expect(told).toEqual(["10 ops: firing a warn not_ok, firing b fail not_ok", "70 ops: firing c warn not_ok"]);
  });

  it("fires and ends before it is due: nothing", () => {
    fire("a");
    pass(5 * secondMs);
    end("a");
    pass(hourMs);

    expect(told).toEqual([]);
  });

  it("ends, and the same organization fires again within groupWait: both", () => {
    fire("a", "fail");
    pass(2 * minuteMs);
    end("a");
    fire("a", "warn", "a2");
    pass(minuteMs);

    expect(told.slice(1)).toEqual(["130 ops: resolved a fail back_to_ok, firing a2 warn not_ok"]);
  });

  it("severity changes, queued: escalated and deescalated after groupWait; gone back by then: nothing", () => {
    fire("a");
    pass(2 * minuteMs);
    fire("a", "fail");
    pass(minuteMs);
    fire("a", "warn");
    pass(5 * secondMs);
    fire("a", "fail");
    pass(minuteMs);
    fire("a", "warn");
    pass(minuteMs);

    expect(told.slice(1)).toEqual([
      "130 ops: escalated a fail severity_rose",
      "255 ops: deescalated a warn severity_fell",
    ]);
  });

  it("a change is due while new ones wait for groupInterval: the change alone", () => {
    fire("a");
    pass(10 * secondMs);
    fire("a", "fail");
    fire("b");
    pass(2 * minuteMs);

    expect(told.slice(1)).toEqual(["20 ops: escalated a fail severity_rose", "70 ops: firing b warn not_ok"]);
  });

  it("a reminder is due while changes wait: the changes; no separate reminder", () => {
    repeatIntervalMs = hourMs;
    fire("a");
    pass(hourMs + 5 * secondMs);
    fire("b");
    pass(hourMs);

    expect(told).toEqual(["10 ops: firing a warn not_ok", "3615 ops: firing b warn not_ok"]);
  });

  it("minSeverity fail: reaches fail, falls, rises: one firing, one resolved; no reminder while below", () => {
    routes = [{ ...ops, minSeverity: "fail" }];
    fire("a");
    pass(hourMs);
    fire("a", "fail");
    pass(minuteMs);
    fire("a", "warn");
    pass(5 * hourMs);
    fire("a", "fail");
    pass(minuteMs);
    fire("a", "warn");
    end("a");
    pass(minuteMs);

    expect(told).toEqual([
      "3610 ops: firing a fail min_severity_reached",
      "21660 ops: reminder a fail repeat_interval",
      "21730 ops: resolved a warn back_to_ok",
    ]);
  });

  it("routes changed by a reload: a queued alert keeps its end; a newly routed one is firing, receiver_added", () => {
    fire("a");
    pass(minuteMs);
    const settings = { receivers: routes, targetOf: target };
    before = {
      settings: { ...settings, targetOf: () => ({ ...target(), receivers: [{ name: "ops", afterMs: 0 }] }) },
      untilMs: nowMs,
    };
    routes = [
      { ...ops, minSeverity: "fail" },
      { ...ops, name: "new" },
    ];
    pass(minuteMs);
    end("a");
    pass(minuteMs);

    expect(told.slice(1)).toEqual([
      "60 new: firing a warn receiver_added",
      "130 ops: resolved a warn back_to_ok",
      "130 new: resolved a warn back_to_ok",
    ]);
  });

  it("sendResolved false: nothing at the end", () => {
    routes = [{ ...ops, sendResolved: false }];
    fire("a");
    pass(minuteMs);
    end("a");
    pass(minuteMs);

    expect(told).toEqual(["10 ops: firing a warn not_ok"]);
    expect(queuedAlerts.get("ops a")).toMatchObject({ isEnded: true });
  });

  it("unknown alerts: where sendUnknown", () => {
    routes = [ops, { ...ops, name: "none", sendUnknown: false }];
    fire("a", "unknown");
    pass(minuteMs);
    end("a", "result_returned");
    pass(minuteMs);

    expect(told).toEqual(["10 ops: unknown a unknown not_ok", "70 ops: recovered a unknown result_returned"]);
  });

  it.each([
    ["silenced before it was queued, ends in the silence: nothing", 0, []],
    ["queued, silenced, ends: resolved", 60, ["10 ops: firing a warn not_ok", "130 ops: resolved a warn back_to_ok"]],
  ])("%s", (_row, silencedAt, expected) => {
    fire("a");
    pass(silencedAt * secondMs);
    silences.push({ slug: "a", fromMs: nowMs, untilMs: nowMs + hourMs });
    pass((120 - silencedAt) * secondMs);
    end("a");
    pass(2 * hourMs);

    expect(told).toEqual(expected);
  });

  it("a silence ends: the difference", () => {
    fire("a");
    fire("b");
    pass(minuteMs);
    for (const slug of ["a", "b", "c"]) silences.push({ slug, fromMs: nowMs, untilMs: nowMs + hourMs });
    for (const slug of ["a", "b"]) fire(slug, "fail");
    pass(secondMs);
    fire("b", "warn");
    fire("c");
    pass(2 * hourMs);

    expect(told.slice(1)).toEqual(["3660 ops: escalated a fail silence_ended, firing c warn silence_ended"]);
    expect(dueNow().hasSilenced).toBe(false);
  });

  it("acknowledged, judged: severity and end as ever; no reminder", () => {
    repeatIntervalMs = hourMs;
    fire("a");
    fire("b");
    pass(minuteMs);
    change("a", { acknowledgement });
    change("b", { judgement });
    pass(5 * hourMs);
    fire("a", "fail");
    pass(minuteMs);
    end("b");
    pass(minuteMs);

    expect(told.slice(1)).toEqual([
      "18070 ops: escalated a fail severity_rose",
      "18130 ops: resolved b warn back_to_ok",
    ]);
  });

  it("dead-lettered: due again after repeatInterval as not_delivered; the end of an untold alert is not sent", () => {
    repeatIntervalMs = minuteMs;
    fire("a");
    fire("b", "warn");
    pass(10 * secondMs);
    fire("b", "fail");
    pass(10 * secondMs);
    giveUp(null, "a");
    giveUp("warn", "b");
    change("a", { acknowledgement });
    pass(5 * minuteMs);
    giveUp(null, "a");
    end("a");
    pass(hourMs);

    expect(told.filter((one) => !one.includes("reminder"))).toEqual([
      "10 ops: firing a warn not_ok, firing b warn not_ok",
      "20 ops: escalated b fail severity_rose",
      "320 ops: firing a warn not_delivered, escalated b fail not_delivered",
    ]);
  });

  it("clock set back: waits are clamped to their full length from now; nothing is due twice", () => {
    fire("a");
    pass(minuteMs);
    fire("b");
    nowMs -= 6 * hourMs;
    forwardSinceMs = nowMs;
    pass(hourMs);
    pass(4 * hourMs);

    const minute = -6 * 3_600 + 60;
    expect(told.slice(1)).toEqual([
      `${minute + 60} ops: firing b warn not_ok`,
      `${minute + 60 + 4 * 3_600} ops: reminder a warn repeat_interval, reminder b warn repeat_interval`,
    ]);
  });

  it("reminders: since the incident's last notification, of members that are neither taken, silenced nor 0s", () => {
    fire("a");
    fire("b");
    pass(hourMs);
    fire("b", "fail");
    pass(3 * hourMs + 30 * minuteMs);
    expect(told).toHaveLength(2);
    change("a", { acknowledgement });
    pass(hourMs);

    expect(told.slice(2)).toEqual([`${3_610 + 4 * 3_600} ops: reminder b fail repeat_interval`]);
  });

  describe("escalation", () => {
    beforeEach(() => {
      afterMs = 30 * minuteMs;
    });

    it("is once for the incident, with all that nobody has taken; later ones are joiners", () => {
      fire("a");
      pass(10 * minuteMs);
      fire("b", "fail");
      fire("c");
      change("c", { acknowledgement });
      pass(25 * minuteMs);
      fire("d");
      pass(10 * minuteMs);

      expect(told).toEqual([
        "1800 ops: firing a warn escalation, firing b fail escalation",
        "2110 ops: firing d warn not_ok",
      ]);
    });

    it.each<[string, () => void, () => void]>([
      ["an acknowledgement", () => change("a", { acknowledgement }), () => change("a", { acknowledgement: null })],
      ["a judgement", () => change("a", { judgement }), () => fire("a", "warn", "b")],
      [
        "a silence",
        () => silences.push({ slug: "a", fromMs: nowMs, untilMs: nowMs + 2 * hourMs }),
        () => silences.splice(0),
      ],
    ])("waits for the end of %s, and is nothing when it ends under it", (what, hold, release) => {
      fire("a");
      hold();
      pass(hourMs);
      release();
      pass(hourMs);

      const [id, atS] = what === "a judgement" ? ["b", 5_400] : ["a", 3_600];
      expect(told).toEqual([`${atS} ops: firing ${id} warn escalation`]);
    });

    it("is told as it is by then, also of kind unknown, and of nothing that ended", () => {
      fire("a", "unknown");
      fire("b");
      pass(minuteMs);
      end("b");
      pass(hourMs);

      expect(told).toEqual(["1800 ops: unknown a unknown escalation"]);
    });
  });

  it("threads: the end of the excess once, and each second opinion once; others get neither", () => {
    routes = [
      { ...ops, hasThreads: true },
      { ...ops, name: "none" },
    ];
    fire("a");
    pass(minuteMs);
    const counted = { deathsLastHour: 0, usualPerHour: 1, quietSinceMs: nowMs, expectedEndAtMs: null };
    const found = { deaths: null, carriers: [], revived: null, cause: null, error: null };
    change("a", { found: { ...found, excess: { ...counted, state: "stopped" } } });
    pass(minuteMs);
    const controls = { alive: { asked: 20, alive: 19 }, dead: { asked: 20, alive: 1 } };
    const secondOpinion = { asked: 20, alive: 14, gone: 5, verdict: "refuted", controls, atMs: 0, look: 1 } as const;
    incident = { ...incident, secondOpinion };
    pass(minuteMs);
    change("a", { found });
    pass(minuteMs);

    expect(told.slice(2)).toEqual([
      "60 ops: reminder a warn excess_stopped",
      "120 ops: reminder a warn second_opinion",
    ]);
  });

  describe("of a broad incident", () => {
    const slugs = ["a", "b", "c"];
    beforeEach(() => {
      fire("a");
      pass(minuteMs);
      incident = { ...plain, verdict };
      fire("b");
      fire("c");
      pass(minuteMs);
      told = [];
    });

    it("a verdict that begins is told at once, with what was told before as one_cause", () => {
      expect(queuedIncidents.get("ops 1")).toMatchObject({ knowsVerdict: true, members: 3 });
    });

    it("joiners are told when the members have doubled; severities when worse than any; ends are silent", () => {
      for (const slug of ["d", "e"]) fire(slug);
      pass(10 * minuteMs);
      end("b");
      fire("f");
      pass(minuteMs);
      fire("a", "fail");
      pass(minuteMs);
      fire("c", "fail");
      pass(minuteMs);

      expect(told.map((one) => one.replace(/^\d+ /, ""))).toEqual([
        "ops: firing d warn not_ok, firing e warn not_ok, firing f warn not_ok",
        "ops: escalated a fail severity_rose",
      ]);
    });

    it("one resolved goes when none fires, without a joiner that ended unannounced", () => {
      fire("d");
      for (const slug of [...slugs, "d"]) end(slug);
      pass(minuteMs);

      expect(told).toEqual([
        "130 ops: resolved a warn back_to_ok, resolved b warn back_to_ok, resolved c warn back_to_ok",
      ]);
    });

    it("every firing member is silenced: nothing, and no end", () => {
      for (const slug of ["b", "c"]) end(slug);
      silences.push({ slug: "a", fromMs: nowMs, untilMs: nowMs + hourMs });
      pass(30 * minuteMs);
      expect(told).toEqual([]);
      end("a");
      pass(minuteMs);

      expect(told).toHaveLength(1);
    });
  });
});
