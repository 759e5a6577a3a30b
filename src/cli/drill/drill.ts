import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GateDecision } from "../../alerting/decide/gate.ts";
import { createNotifier } from "../../alerting/notify/notifier.ts";
import { createOutbox, type Outbox } from "../../alerting/deliver/outbox.ts";
import { recipientsOf } from "../../alerting/deliver/receiver.ts";
import { deliveryName } from "../../store/alerts/outbox-entry.ts";
import { createRecorder } from "../../alerting/record.ts";
import { FlatlineError } from "../../base/errors.ts";
import { createHttpDispatcher } from "../../base/http-dispatcher.ts";
import { ReleaseGroup } from "../../base/lifecycle.ts";
import { createSilentLogger, type Logger } from "../../base/logger.ts";
import { hourMs, secondMs } from "../../base/time.ts";
import type { Config, ReceiverConfig } from "../../config/config.ts";
import { suggest } from "../../base/suggestions.ts";
import { createAlertSample } from "../../daemon/evidence/alert-sample.ts";
import { createReceiver } from "../../receivers/receivers.ts";
import { Board } from "../../store/runs/board.ts";
import { openStore } from "../../store/open.ts";
import { createDrillBoard, type DrillBoard, type DrillStep } from "./board.ts";
import { createShadow, drillSettings, drillSlug, type Shadow } from "./shadow.ts";
import type { PartsDeps } from "../../daemon/parts.ts";

export interface DrillOptions {
  /** Names of receivers; empty: all configured ones. */
  readonly receivers: readonly string[];
  /** Maximum wait for the delivery of each of the two messages. */
  readonly timeoutMs: number;
}

/** The steps of a drill and their results. */
export interface DrillReport {
  /** The shadow organization. */
  readonly slug: string;
  /** Whether every receiver accepted all messages that it wants. */
  readonly isPassed: boolean;
  readonly steps: readonly DrillStep[];
  /** Duration of all steps. */
  readonly tookMs: number;
}

const closeWithinMs = 5 * secondMs;

/**
 * Sends a simulated incident of a shadow organization through evaluation, alert, outbox and the real receivers, judges it,
 * then sends its end, all marked as a drill; and shows what the gate answers meanwhile, and what is expected afterwards. It uses a temporary store: the daemon's store, metrics and organizations are not affected.
 * @throws usage for a receiver that is not configured, or if there is none
 */
export async function runDrill(
  config: Config,
  deps: PartsDeps & { readonly logger: Logger; readonly signal: AbortSignal },
  options: DrillOptions,
): Promise<DrillReport> {
  const chosen = chooseReceivers(config, options.receivers);
  const { clock } = deps;
  const startedMs = clock.monotonicMs();
  const [work, connections, disk] = [new ReleaseGroup(), new ReleaseGroup(), new ReleaseGroup()];
  try {
    const folder = await mkdtemp(join(tmpdir(), "flatline-drill-"));
    disk.add("folder", () => rm(folder, { recursive: true, force: true }));
    const store = await openStore({ path: join(folder, "drill.db"), clock });
    connections.add("store", () => store.close());
    const dispatcher = createHttpDispatcher({ env: deps.env });
    connections.add("connections", () => dispatcher.destroy());

    const board = createDrillBoard(clock);
    const common = {
      clock,
      logger: createSilentLogger(),
      newId: (): string => randomUUID(),
      settings: () => drillSettings(config, chosen),
    };
    const checks = new Board();
    const nowMs = clock.nowMs();
    const owner = await store.owners.register({ nowMs, leaseUntilMs: nowMs + hourMs });
    const recorder = createRecorder({
      ...common,
      store,
      board: checks,
      owner: () => owner,
      distrust: () => undefined,
      onChange: () => undefined,
      readSample: createAlertSample(() => config),
    });
    const notifier = createNotifier({ ...common, store, board: checks, onEnqueued: () => outbox.wake() });
    const outbox: Outbox = createOutbox({
      store,
      clock,
      random: deps.random,
      logger: createSilentLogger(),
      metrics: { attemptBegan: () => () => undefined, notificationAttempt: () => undefined },
      owner: randomUUID(),
      receivers: chosen.map((receiver) => ({
        receiver: board.watch(createReceiver(receiver, { dispatcher, logger: deps.logger })),
        timeoutMs: receiver.timeoutMs,
        maxAgeMs: receiver.maxAgeMs,
        // Two messages do not need a limit; one message per minute would delay the second one.
        rateLimit: null,
      })),
      resend: () => Promise.resolve(null),
    });
    outbox.start();
    work.add("outbox", () => outbox.stop(0));

    const shadow = createShadow({ store, owner, clock, recorder, settings: common.settings() });
    const parts = { shadow, board, notify: () => notifier.runOnce(), signal: deps.signal, chosen, options };
    await runPhase("firing", parts);
    await askGate(parts, "hold");
    await board.time(
      "judge the alert",
      () => shadow.judge(),
      (verdict) => ({ isOk: true, detail: verdict }),
    );
    await runPhase("resolved", parts);
    const { releaseOn } = config.defaults.gate;
    const isOpened = releaseOn.includes("judged") || releaseOn.includes("resolved");
    await askGate(parts, isOpened ? "allow" : "hold");
    await board.time(
      "expect tomorrow",
      () => shadow.expectTomorrow(),
      (expected) => ({ isOk: true, detail: describeTomorrow(expected) }),
    );
    const steps = board.steps();
    const isPassed = steps.every(({ isOk }) => isOk);
    return { slug: drillSlug, isPassed, steps, tookMs: clock.monotonicMs() - startedMs };
  } finally {
    for (const group of [work, connections, disk]) await group.releaseAll(clock, closeWithinMs);
  }
}

interface PhaseParts {
  readonly shadow: Shadow;
  readonly board: DrillBoard;
  readonly notify: () => Promise<{ readonly formed: number }>;
  readonly signal: AbortSignal;
  readonly chosen: readonly ReceiverConfig[];
  readonly options: DrillOptions;
}

async function runPhase(
  phase: "firing" | "resolved",
  { shadow, board, notify, signal, chosen, options }: PhaseParts,
): Promise<void> {
  await board.time(`store ${phase === "firing" ? "a regression" : "its end"}`, () => shadow.store(phase));
  const report = await board.time("evaluate", () => shadow.evaluate(signal), describeReport);
  await board.time(
    "change the alert",
    () => shadow.record(report),
    (changes) => ({
      isOk: changes.includes(phase),
      detail: changes.length === 0 ? "nothing changed" : changes.join(", "),
    }),
  );
  const isWanted = ({ sendResolved }: ReceiverConfig): boolean => phase === "firing" || sendResolved;
  const wanted = chosen.filter(isWanted).flatMap(deliveriesTo);
  board.expect(phase, wanted);
  const { formed } = await board.time("form notifications", notify, ({ formed }) => ({
    isOk: formed === wanted.length,
    detail: `${formed} for ${chosen.length} receiver${chosen.length === 1 ? "" : "s"}`,
  }));
  await board.settled(phase, formed === 0 ? 0 : options.timeoutMs, signal);
  if (signal.aborted) {
    const hint = phase === "firing" ? "receivers may have been notified of its start, but not of its end" : "";
    throw new FlatlineError("unavailable", `the drill was stopped${hint === "" ? "" : `: ${hint}`}`);
  }
  const unwanted = chosen.filter((receiver) => !isWanted(receiver)).flatMap(deliveriesTo);
  board.note(phase, unwanted);
}

function askGate({ shadow, board }: PhaseParts, wanted: GateDecision["decision"]): Promise<GateDecision> {
  return board.time(
    "ask the gate",
    () => shadow.gate(),
    ({ decision, reason }) => ({ isOk: decision === wanted, detail: `${decision}: ${reason}` }),
  );
}

function describeTomorrow({ withIt, without }: { readonly withIt: number; readonly without: number }): string {
  const [left, kept] = [without, withIt].map((count) => Number(count.toPrecision(3)));
  return `${left} deaths with the incident left out of the baseline (baselineExclude: judged), ${kept} with it`;
}

function deliveriesTo(receiver: ReceiverConfig): readonly string[] {
  return recipientsOf(receiver).map((recipient) => deliveryName(receiver.name, recipient));
}

function describeReport(report: Awaited<ReturnType<Shadow["evaluate"]>>): { isOk: boolean; detail: string } {
  if (report.kind === "error") return { isOk: false, detail: `${report.error.reason}: ${report.error.message}` };
  const { currentCount, expectedCount } = report.result.observed;
  return {
    isOk: true,
    detail: `${report.severity}: ${String(currentCount)} deaths where ${String(expectedCount)} were expected`,
  };
}

function chooseReceivers(config: Config, names: readonly string[]): readonly ReceiverConfig[] {
  const known = config.receivers.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const hint =
      suggest(unknown, known) ||
      (known.length === 0 ? "; none is configured" : `; the receivers are ${known.join(", ")}`);
    throw new FlatlineError("usage", `no receiver has the name ${JSON.stringify(unknown)}${hint}`);
  }
  if (known.length === 0) throw new FlatlineError("usage", `a drill needs a receiver, and ${config.file} has none`);
  return config.receivers.filter(({ name }) => names.length === 0 || names.includes(name));
}
