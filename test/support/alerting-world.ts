import { actOnAlert, releaseGate } from "../../src/alerting/acts/alert-acts.ts";
import { actOnIncident, readActFacts } from "../../src/alerting/acts/incident-acts.ts";
import { planAct, type IncidentAct, type IncidentActResult } from "../../src/alerting/acts/plan-act.ts";
import type { OutboxReceiver } from "../../src/alerting/deliver/attempt.ts";
import type { AlertNotice, Notification } from "../../src/alerting/notify/notification.ts";
import { createNotifier, type Notifier } from "../../src/alerting/notify/notifier.ts";
import { firingOf, presentOf } from "../../src/alerting/notify/present.ts";
import { createOutbox, type Outbox } from "../../src/alerting/deliver/outbox.ts";
import type { DeliveryBudget, DeliveryOutcome } from "../../src/alerting/deliver/receiver.ts";
import { createRecorder, type Recorded, type Recorder } from "../../src/alerting/record.ts";
import { recordRun } from "./record-run.ts";
import type { Run } from "../../src/store/runs/check-state.ts";
import { Board } from "../../src/store/runs/board.ts";
import type { AlertingSettings, AlertPolicy, AlertTarget, ReceiverRoute } from "../../src/alerting/settings.ts";
import { createSilentLogger } from "../../src/base/logger.ts";
import { minuteMs } from "../../src/base/time.ts";
import { actor } from "../../src/contract/actor.ts";
import type { JudgementVerdict } from "../../src/contract/judgement.ts";
import type { CheckName, CheckReport } from "../../src/contract/report.ts";
import type { ResultSeverity, Severity } from "../../src/contract/severity.ts";
import type { Store } from "../../src/store/store.ts";
import { errorReport, resultReport } from "./reports.ts";
import { engineNamed, type StoreEngineCase } from "./store/engines.ts";
import { createVirtualClock, type VirtualClock } from "./virtual-clock.ts";

/** What a receiver does with each delivery; a test changes it at will. */
export type Answer = (notification: Notification) => DeliveryOutcome | Promise<DeliveryOutcome>;

/** A receiver that notes what it was sent. */
export interface FakeReceiver {
  answer: Answer;
  /** Accepted ones, in order, repeats of an id included. */
  readonly accepted: Notification[];
  /** All attempts, in order. */
  readonly attempts: { readonly atMs: number; readonly id: string }[];
}

export interface WorldOptions {
  /** What the store is in [SQLite]. */
  readonly engine?: StoreEngineCase["engine"];
  /** When it begins, epoch ms [a Monday morning]. */
  readonly startMs?: number;
  readonly slugs?: readonly string[];
  readonly receivers?: readonly (Partial<ReceiverRoute> & {
    readonly name: string;
    readonly resendIntervalMs?: number;
    readonly budget?: DeliveryBudget;
  })[];
  readonly policy?: Partial<AlertPolicy>;
  /** Of single organizations, over the common ones. */
  readonly targets?: Readonly<Record<string, Partial<Omit<AlertTarget, "policy">>>>;
  readonly settings?: Partial<Omit<AlertingSettings, "receivers" | "targetOf">>;
}

/** Who acts on an incident, and on what of it. */
export interface IncidentHow {
  readonly slugs?: readonly string[];
  /** [true] */
  readonly isDryRun?: boolean;
}

/** Where a crash can be made to happen: before the commit of what is recorded, formed, acknowledged or acted. */
export type CrashPoint = "record" | "form" | "acknowledge" | "act";

/** Recorder, notifier and outbox over a real store, with virtual time and receivers of the test's making. */
export interface AlertingWorld {
  readonly clock: VirtualClock;
  readonly store: Store;
  /** Of the process that lives now. */
  readonly board: Board;
  readonly receivers: ReadonlyMap<string, FakeReceiver>;
  /** A run of the check now, made durable; `count` is its currentCount. */
  run(
    slug: string,
    severity: Severity,
    details?: {
      count?: number;
      check?: CheckName;
      carrier?: string;
      excess?: "ongoing" | "stopped";
    },
  ): Promise<Recorded>;
  /** Records a report of the test's making; `over` says how its run came about [it was due when it began]. */
  record(report: CheckReport, over?: Partial<Run>): Promise<Recorded>;
  /** Lets `ms` pass, forming and delivering whenever something is due. */
  advance(ms: number): Promise<void>;
  /** Forms and delivers what is due now. */
  settle(): Promise<void>;
  /** Changes what a reload may change, and does what a reload does. */
  reload(options: WorldOptions): Promise<void>;
  silence(slug: string, forMs: number): Promise<string>;
  acknowledge(slug: string): Promise<boolean>;
  /** Says of the organization's alert, or of the one with this id, what it was; null takes it back. */
  judge(subject: string, verdict: JudgementVerdict | null, comment?: string | null): Promise<void>;
  /** How the incident of a notification stands now for its receiver. */
  present(notification: Notification): Promise<Notification>;
  /** Which alerts of a notification's incident fire, of those that its receiver is notified of. */
  firing(notification: Notification): Promise<readonly AlertNotice[]>;
  /** Acts on an incident, as one who may do so for every organization unless it is said otherwise. */
  actOn(incident: number, act: IncidentAct, how?: IncidentHow): Promise<IncidentActResult>;
  /** Releases the gate by hand. */
  release(slug: string, comment: string): Promise<void>;
  /** Another process on the same store. */
  restart(): Promise<void>;
  /** The next operation of that kind is lost, as by kill -9, and the process is another one afterwards. */
  crashAt(point: CrashPoint): void;
  /** `event slug severity` of each entry that the receiver accepted, notifications apart from each other; repeats dropped. */
  sent(receiver?: string): string[][];
  /** What the receiver accepted, repeats of an id dropped. */
  notifications(receiver?: string): Notification[];
  close(): Promise<void>;
}

const mondayMs = Date.parse("2026-11-02T08:00:00.000Z");
const plain: AlertPolicy = {
  forMs: 0,
  keepFiringForMs: 0,
  unknownAfter: 3,
  repeatIntervalMs: 0,
  minBaselineCoverage: 0,
};

class Crash extends Error {}

/** A world that begins on a Monday morning; groupWait 10 s, groupInterval 1 m, no fleet verdict unless asked for. */
export async function createAlertingWorld(initial: WorldOptions = {}): Promise<AlertingWorld> {
  const { startMs = mondayMs } = initial;
  const clock = createVirtualClock({ startMs });
  const opened = await engineNamed(initial.engine ?? "SQLite").openTemporary(clock);
  const { store } = opened;
  const logger = createSilentLogger();
  const receivers = new Map<string, FakeReceiver>();
  let options = initial;
  let processes = 0;
  let restarted = Promise.resolve();
  let ids = 0;
  let crash: CrashPoint | null = null;
  const newId = (): string => `id-${String(++ids).padStart(6, "0")}`;

  const slugs = (): readonly string[] => options.slugs ?? ["acme"];
  const routes = (): readonly ReceiverRoute[] =>
    (options.receivers ?? [{ name: "ops" }]).map((route) => ({
      minSeverity: "warn",
      sendResolved: true,
      sendUnknown: route.minSeverity !== "fail",
      match: null,
      ...route,
    }));

  const targetOf = (_check: CheckName, slug: string): AlertTarget | null => targetIn(options, slug);

  function targetIn(given: WorldOptions, slug: string): AlertTarget | null {
    if (given.slugs?.includes(slug) === false || (given.slugs === undefined && slug !== "acme")) return null;
    return {
      policy: { ...plain, ...given.policy },
      receivers: (given.receivers ?? [{ name: "ops" }]).map(({ name }) => ({ name, afterMs: 0 })),
      labels: {},
      url: null,
      ...given.targets?.[slug],
    };
  }

  let before: AlertingSettings["before"];

  function settings(): AlertingSettings {
    return {
      groupWaitMs: 10_000,
      groupIntervalMs: 60_000,
      incidentWithinMs: 30 * 60_000,
      fleet: null,
      externalUrl: null,
      slugs: slugs(),
      source: "security.example.com",
      silences: [],
      gateOf: () => ({ releaseOn: ["judged"], whenUnknown: "allow" }),
      isGateConfigured: true,
      ...options.settings,
      ...(before === undefined ? {} : { before }),
      receivers: routes(),
      targetOf,
    };
  }

  function outboxReceivers(): OutboxReceiver[] {
    return (options.receivers ?? [{ name: "ops" }]).map(({ name, resendIntervalMs, recipients }) => {
      const fake = receivers.get(name) ?? {
        answer: (): DeliveryOutcome => ({ kind: "accepted", detail: "" }),
        accepted: [],
        attempts: [],
      };
      receivers.set(name, fake);
      return {
        receiver: {
          name,
          type: "fake",
          ...(resendIntervalMs === undefined ? {} : { resendIntervalMs }),
          ...(recipients === undefined ? {} : { recipients }),
          deliver: async (notification) => {
            fake.attempts.push({ atMs: clock.nowMs(), id: notification.id });
            const outcome = await fake.answer(notification);
            if (outcome.kind === "accepted") fake.accepted.push(notification);
            return outcome;
          },
        },
        timeoutMs: 10_000,
        maxAgeMs: 24 * 3_600_000,
        rateLimit: null,
      };
    });
  }

  function crashing(point: CrashPoint): boolean {
    if (crash !== point) return false;
    crash = null;
    return true;
  }

  const kim = actor("kim", "token");
  const actContext = () => ({ settings: settings(), nowMs: clock.nowMs(), newId });

  /** A transaction that a crash interrupts is rolled back, and no other follows it. */
  function crashable(point: CrashPoint): Store {
    let died: Crash | null = null;
    return {
      ...store,
      transaction: (work) =>
        store.transaction(async (parts) => {
          const done = await work(parts);
          if (crashing(point)) died = new Crash(point);
          if (died !== null) throw died;
          return done;
        }),
    };
  }

  /** The transaction in which answers are stored, and the next deliveries are claimed. */
  const crashingOutbox: Store["transaction"] = (work) =>
    store.transaction((parts) =>
      work({
        ...parts,
        outbox: {
          ...parts.outbox,
          settle: async (ended) => {
            if (ended.length > 0 && crashing("acknowledge")) throw new Crash("acknowledge");
            return parts.outbox.settle(ended);
          },
        },
      }),
    );

  let board: Board;
  let recorder: Recorder;
  let notifier: Notifier;
  let outbox: Outbox;

  async function restart(): Promise<void> {
    processes++;
    board = new Board();
    board.learn(await store.runs.load());
    board.keepOnly(({ slug }) => slugs().includes(slug));
    const common = { clock, logger, newId, settings, board };
    recorder = createRecorder({
      ...common,
      store: crashable("record"),
      intervalOf: () => 5 * minuteMs,
      onDoubt: () => undefined,
      onChange: () => undefined,
    });
    const receiverOf = (receiver: string) => options.receivers?.find(({ name }) => name === receiver) ?? null;
    notifier = createNotifier({ ...common, store: crashable("form"), receiverOf, onEnqueued: () => undefined });
    outbox = createOutbox({
      store: { outbox: store.outbox, transaction: crashingOutbox },
      clock,
      random: () => 0.5,
      logger,
      metrics: { receiverTimedOut: () => undefined, notificationAttempt: () => undefined },
      receivers: outboxReceivers(),
      resend: (receiver) => notifier.resend(receiver),
    });
  }

  async function surviving<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      await restart();
      return await work();
    }
  }

  async function record(report: CheckReport, over: Partial<Run> = {}): Promise<Recorded> {
    const { check, slug, startedAtMs } = report;
    const recordOnce = (): Promise<Recorded> => {
      const run = { check, slug, dueAtMs: startedAtMs, isAsked: false, ...over };
      return recordRun(recorder, { run, report, nextDueAtMs: clock.nowMs() + 300_000 });
    };
    const process = processes;
    try {
      return await recordOnce();
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      // Runs that shared a commit are lost together, with one process.
      if (processes === process) restarted = restart();
      await restarted;
      return await recordOnce();
    }
  }

  async function settleNow(): Promise<number> {
    for (;;) {
      const { formed, nextAtMs } = await surviving(() => notifier.runOnce());
      const begun = await surviving(() => outbox.runOnce());
      if (formed === 0 && begun === 0) return nextAtMs;
    }
  }

  async function advance(ms: number): Promise<void> {
    const untilMs = clock.nowMs() + ms;
    for (;;) {
      const nextAtMs = await settleNow();
      const nowMs = clock.nowMs();
      // What is overdue waits behind an older one of its alert, which a later look finds gone.
      const waiting = (await store.outbox.list()).filter(({ state }) => state === "queued");
      const attempts = waiting.map(({ nextAttemptAtMs: atMs }) => (atMs > nowMs ? atMs : nowMs + 30_000));
      const nextMs = Math.min(untilMs, ...attempts, Math.max(nextAtMs, clock.nowMs() + 1));
      if (nextMs >= untilMs) break;
      await clock.advanceTo(nextMs);
    }
    await clock.advanceTo(untilMs);
    await settleNow();
  }

  function notifications(receiver = "ops"): Notification[] {
    const accepted = receivers.get(receiver)?.accepted ?? [];
    return [...new Map(accepted.map((notification) => [notification.id, notification])).values()];
  }

  const entry = ({ event, slug, severity }: AlertNotice): string => `${event} ${slug} ${severity}`;

  await restart();
  return {
    clock,
    store,
    get board() {
      return board;
    },
    receivers,
    run: (slug, severity, { count, check, carrier, excess } = {}) => {
      const named = { startedAtMs: clock.nowMs(), slug, ...(check === undefined ? {} : { check }) };
      if (severity === "unknown") return record(errorReport(named));
      const given: ResultSeverity = severity;
      return record(
        resultReport({
          ...named,
          severity: given,
          ...(carrier === undefined ? {} : { carrier }),
          ...(excess === undefined ? {} : { excess }),
          ...(count === undefined ? {} : { currentCount: count }),
          assetTypes:
            given === "ok"
              ? []
              : [
                  { assetType: "URL", excess: 30 },
                  { assetType: "EMAIL", excess: 10 },
                ],
        }),
      );
    },
    record,
    advance,
    settle: async () => {
      await settleNow();
    },
    reload: async (changes) => {
      const old = options;
      const held = { receivers: routes(), targetOf: (_check: CheckName, slug: string) => targetIn(old, slug) };
      before = { settings: held, untilMs: clock.nowMs() };
      options = { ...options, ...changes };
      board.keepOnly(({ slug }) => slugs().includes(slug));
      await surviving(() => recorder.endUnconfigured());
      await outbox.setReceivers(outboxReceivers());
    },
    silence: async (slug, forMs) => {
      const id = newId();
      const nowMs = clock.nowMs();
      await store.silences.add({
        id,
        slug,
        check: null,
        startsAtMs: nowMs,
        endsAtMs: nowMs + forMs,
        comment: "test",
        createdBy: null,
        note: null,
        createdAtMs: nowMs,
      });
      return id;
    },
    acknowledge: async (slug) => {
      const alert = (await store.alerts.allLive()).find((one) => one.slug === slug && one.state === "firing");
      if (alert === undefined) return false;
      await actOnAlert(store, actContext(), {
        alertId: alert.id,
        author: kim,
        act: { kind: "acknowledge", comment: null },
      });
      return true;
    },
    judge: async (subject, verdict, comment = null) => {
      const alert = (await store.alerts.allLive()).find((one) => one.slug === subject && one.state === "firing");
      const act: IncidentAct = verdict === null ? { kind: "withdraw" } : { kind: "judge", verdict, comment };
      const request = { alertId: alert?.id ?? subject, act, author: kim };
      await surviving(() => actOnAlert(crashable("act"), actContext(), request));
    },
    actOn: async (incident, act, { slugs: some = null, isDryRun = false } = {}) => {
      const request = { incident, act, author: kim, slugs: some };
      if (isDryRun) return planAct(request, await readActFacts(store, actContext(), request));
      return surviving(() => crashable("act").transaction((parts) => actOnIncident(parts, actContext(), request)));
    },
    release: (slug, comment) => releaseGate(store, actContext(), { slug, author: kim, comment }),
    present: (notification) =>
      presentOf({ parts: store, board, settings: settings(), nowMs: clock.nowMs() }, notification),
    firing: (notification) =>
      firingOf({ parts: store, board, settings: settings(), nowMs: clock.nowMs() }, notification),
    restart,
    crashAt: (point) => {
      crash = point;
    },
    sent: (receiver) => notifications(receiver).map(({ alerts }) => alerts.map(entry)),
    notifications,
    close: async () => {
      await opened.close();
    },
  };
}
