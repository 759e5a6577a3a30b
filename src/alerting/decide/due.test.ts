import { beforeEach, describe, expect, it } from "vitest";

import { parseDuration } from "../../base/durations.ts";
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

function change(id: string, over: Partial<Alert>): void {
  const held = alerts.get(id);
  if (held === undefined) throw new Error(id);
  alerts.set(id, { ...held, ...over });
}

const acknowledgement = { atMs: 0, by: "kim", note: null, comment: null, severity: "fail" } as const;

const judgement = { verdict: "real", comment: null, by: "kim", note: null, atMs: 0 } as const;

const acts: Readonly<Record<string, (id: string, more: string | undefined, alertId: string | undefined) => void>> = {
  fire: (slug, severity = "warn", id) => fire(slug, severity as Severity, id),
  end: (id, reason = "back_to_ok") => change(id, { reason, end: { atMs: nowMs, isByRun: true, storedAtMs: nowMs } }),
  acknowledge: (id) => change(id, { acknowledgement }),
  judge: (id) => change(id, { judgement }),
  silence: (slug, length = "") => void silences.push({ slug, fromMs: nowMs, untilMs: nowMs + lengthOf(length) }),
};

function lengthOf(text: string): number {
  const lengthMs = parseDuration(text);
  if (lengthMs === null) throw new Error(text);
  return lengthMs;
}

/** Plays acts, and between them lets time pass: `fire a, 90s, fire a fail, 5m, end a`. */
function play(script: string): void {
  for (const step of script.split(", ")) {
    const [name = "", id = "", ...more] = step.split(" ");
    const act = acts[name];
    if (act === undefined) pass(lengthOf(name));
    else act(id, more[0], more[1]);
  }
}

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
  it.each<[rule: string, script: string, expected: readonly string[]]>([
    [
      "fires, not queued: firing after groupWait; new ones of an incident at most once per groupInterval",
      "fire a, 6s, fire b fail, 5s, fire c, 2m",
      ["10 ops: firing a warn not_ok, firing b fail not_ok", "70 ops: firing c warn not_ok"],
    ],
    ["fires and ends before it is due: nothing", "fire a, 5s, end a, 1h", []],
    [
      "ends, and the same organization fires again within groupWait: both",
      "fire a fail, 2m, end a, fire a warn a2, 1m",
      ["10 ops: firing a fail not_ok", "130 ops: resolved a fail back_to_ok, firing a2 warn not_ok"],
    ],
    [
      "severity changes, queued: escalated and deescalated after groupWait; gone back by then: nothing",
      "fire a, 2m, fire a fail, 1m, fire a warn, 5s, fire a fail, 1m, fire a warn, 1m",
      [
        "10 ops: firing a warn not_ok",
        "130 ops: escalated a fail severity_rose",
        "255 ops: deescalated a warn severity_fell",
      ],
    ],
    [
      "a change is due while new ones wait for groupInterval: the change alone",
      "fire a, 10s, fire a fail, fire b, 2m",
      ["10 ops: firing a warn not_ok", "20 ops: escalated a fail severity_rose", "70 ops: firing b warn not_ok"],
    ],
    ["silenced before it was queued, ends in the silence: nothing", "fire a, silence a 1h, 2m, end a, 2h", []],
    [
      "queued, silenced, ends: resolved",
      "fire a, 1m, silence a 1h, 1m, end a, 2h",
      ["10 ops: firing a warn not_ok", "130 ops: resolved a warn back_to_ok"],
    ],
    [
      "a silence ends: the difference",
      "fire a, fire b, 1m, silence a 1h, silence b 1h, silence c 1h, fire a fail, fire b fail, 1s, fire b warn, fire c, 2h",
      [
        "10 ops: firing a warn not_ok, firing b warn not_ok",
        "3660 ops: escalated a fail silence_ended, firing c warn silence_ended",
      ],
    ],
    [
      "acknowledged, judged: severity and end as ever; no reminder",
      "fire a, fire b, 1m, acknowledge a, judge b, 5h, fire a fail, 1m, end b, 1m",
      [
        "10 ops: firing a warn not_ok, firing b warn not_ok",
        "18070 ops: escalated a fail severity_rose",
        "18130 ops: resolved b warn back_to_ok",
      ],
    ],
    [
      "reminders: since the incident's last notification, of members that are neither taken, silenced nor 0s",
      "fire a, fire b, 1h, fire b fail, 3h30m, acknowledge a, 1h",
      [
        "10 ops: firing a warn not_ok, firing b warn not_ok",
        "3610 ops: escalated b fail severity_rose",
        `${3_610 + 4 * 3_600} ops: reminder b fail repeat_interval`,
      ],
    ],
  ])("%s", (_rule, script, expected) => {
    play(script);

    expect(told).toEqual(expected);
    expect(dueNow().hasSilenced).toBe(false);
  });

  it("a reminder is due while changes wait: the changes; no separate reminder", () => {
    repeatIntervalMs = hourMs;
    play("fire a, 1h, 5s, fire b, 1h");

    expect(told).toEqual(["10 ops: firing a warn not_ok", "3615 ops: firing b warn not_ok"]);
  });

  it("minSeverity fail: reaches fail, falls, rises: one firing, one resolved; no reminder while below", () => {
    routes = [{ ...ops, minSeverity: "fail" }];
    play("fire a, 1h, fire a fail, 1m, fire a warn, 5h, fire a fail, 1m, fire a warn, end a, 1m");

    expect(told).toEqual([
      "3610 ops: firing a fail min_severity_reached",
      "21660 ops: reminder a fail repeat_interval",
      "21730 ops: resolved a warn back_to_ok",
    ]);
  });

  it("routes changed by a reload: a queued alert keeps its end; a newly routed one is firing, receiver_added", () => {
    play("fire a, 1m");
    const settings = { receivers: routes, targetOf: target };
    before = {
      settings: { ...settings, targetOf: () => ({ ...target(), receivers: [{ name: "ops", afterMs: 0 }] }) },
      untilMs: nowMs,
    };
    routes = [
      { ...ops, minSeverity: "fail" },
      { ...ops, name: "new" },
    ];
    play("1m, end a, 1m");

    expect(told.slice(1)).toEqual([
      "60 new: firing a warn receiver_added",
      "130 ops: resolved a warn back_to_ok",
      "130 new: resolved a warn back_to_ok",
    ]);
  });

  it("sendResolved false: nothing at the end", () => {
    routes = [{ ...ops, sendResolved: false }];
    play("fire a, 1m, end a, 1m");

    expect(told).toEqual(["10 ops: firing a warn not_ok"]);
    expect(queuedAlerts.get("ops a")).toMatchObject({ isEnded: true });
  });

  it("unknown alerts: where sendUnknown", () => {
    routes = [ops, { ...ops, name: "none", sendUnknown: false }];
    play("fire a unknown, 1m, end a result_returned, 1m");

    expect(told).toEqual(["10 ops: unknown a unknown not_ok", "70 ops: recovered a unknown result_returned"]);
  });

  it("dead-lettered: due again after repeatInterval as not_delivered; the end of an untold alert is not sent", () => {
    repeatIntervalMs = minuteMs;
    play("fire a, fire b, 10s, fire b fail, 10s");
    giveUp(null, "a");
    giveUp("warn", "b");
    play("acknowledge a, 5m");
    giveUp(null, "a");
    play("end a, 1h");

    expect(told.filter((one) => !one.includes("reminder"))).toEqual([
      "10 ops: firing a warn not_ok, firing b warn not_ok",
      "20 ops: escalated b fail severity_rose",
      "320 ops: firing a warn not_delivered, escalated b fail not_delivered",
    ]);
  });

  it("clock set back: waits are clamped to their full length from now; nothing is due twice", () => {
    play("fire a, 1m, fire b");
    nowMs -= 6 * hourMs;
    forwardSinceMs = nowMs;
    play("1h, 4h");

    const minute = -6 * 3_600 + 60;
    expect(told.slice(1)).toEqual([
      `${minute + 60} ops: firing b warn not_ok`,
      `${minute + 60 + 4 * 3_600} ops: reminder a warn repeat_interval, reminder b warn repeat_interval`,
    ]);
  });

  describe("escalation", () => {
    beforeEach(() => {
      afterMs = 30 * minuteMs;
    });

    it("is once for the incident, with all that nobody has taken; later ones are joiners", () => {
      play("fire a, 10m, fire b fail, fire c, acknowledge c, 25m, fire d, 10m");

      expect(told).toEqual([
        "1800 ops: firing a warn escalation, firing b fail escalation",
        "2110 ops: firing d warn not_ok",
      ]);
    });

    it.each<[what: string, hold: string, release: () => void, expected: string]>([
      [
        "an acknowledgement",
        "acknowledge a",
        () => change("a", { acknowledgement: null }),
        "3600 ops: firing a warn escalation",
      ],
      ["a judgement", "judge a", () => play("fire a warn b"), "5400 ops: firing b warn escalation"],
      ["a silence", "silence a 2h", () => silences.splice(0), "3600 ops: firing a warn escalation"],
    ])("waits for the end of %s, and is nothing when it ends under it", (_what, hold, release, expected) => {
      play(`fire a, ${hold}, 1h`);
      release();
      play("1h");

      expect(told).toEqual([expected]);
    });

    it("is told as it is by then, also of kind unknown, and of nothing that ended", () => {
      play("fire a unknown, fire b, 1m, end b, 1h");

      expect(told).toEqual(["1800 ops: unknown a unknown escalation"]);
    });
  });

  it("threads: the end of the excess once, and each second opinion once; others get neither", () => {
    routes = [
      { ...ops, hasThreads: true },
      { ...ops, name: "none" },
    ];
    play("fire a, 1m");
    const counted = { deathsLastHour: 0, usualPerHour: 1, quietSinceMs: nowMs, expectedEndAtMs: null };
    const found = { deaths: null, carriers: [], revived: null, cause: null, error: null };
    change("a", { found: { ...found, excess: { ...counted, state: "stopped" } } });
    play("1m");
    const controls = { alive: { asked: 20, alive: 19 }, dead: { asked: 20, alive: 1 } };
    const secondOpinion = { asked: 20, alive: 14, gone: 5, verdict: "refuted", controls, atMs: 0, look: 1 } as const;
    incident = { ...incident, secondOpinion };
    play("1m");
    change("a", { found });
    play("1m");

    expect(told.slice(2)).toEqual([
      "60 ops: reminder a warn excess_stopped",
      "120 ops: reminder a warn second_opinion",
    ]);
  });

  describe("of a broad incident", () => {
    beforeEach(() => {
      play("fire a, 1m");
      incident = { ...plain, verdict };
      play("fire b, fire c, 1m");
      told = [];
    });

    it("a verdict that begins is told at once, with what was told before as one_cause", () => {
      expect(queuedIncidents.get("ops 1")).toMatchObject({ knowsVerdict: true, members: 3 });
    });

    it("joiners are told when the members have doubled; severities when worse than any; ends are silent", () => {
      play("fire d, fire e, 10m, end b, fire f, 1m, fire a fail, 1m, fire c fail, 1m");

      expect(told.map((one) => one.replace(/^\d+ /, ""))).toEqual([
        "ops: firing d warn not_ok, firing e warn not_ok, firing f warn not_ok",
        "ops: escalated a fail severity_rose",
      ]);
    });

    it("one resolved goes when none fires, without a joiner that ended unannounced", () => {
      play("fire d, end a, end b, end c, end d, 1m");

      expect(told).toEqual([
        "130 ops: resolved a warn back_to_ok, resolved b warn back_to_ok, resolved c warn back_to_ok",
      ]);
    });

    it("every firing member is silenced: nothing, and no end", () => {
      play("end b, end c, silence a 1h, 30m");
      expect(told).toEqual([]);
      play("end a, 1m");

      expect(told).toHaveLength(1);
    });
  });
});
