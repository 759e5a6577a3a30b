import type { Receiver } from "../../alerting/deliver/receiver.ts";
import { deliveryName } from "../../store/alerts/outbox-entry.ts";
import type { Clock } from "../../base/time.ts";

/** One step of a drill, in order. */
export interface DrillStep {
  readonly step: string;
  /** Name of the delivery, as in `outbox list`; null for steps without one. */
  readonly receiver: string | null;
  readonly tookMs: number;
  readonly isOk: boolean;
  readonly detail: string;
}

/** Records the steps of a drill and their durations. */
export interface DrillBoard {
  /** Runs a step and records it. */
  time<Result>(
    step: string,
    work: () => Promise<Result>,
    describe?: (result: Result) => { readonly isOk: boolean; readonly detail: string },
  ): Promise<Result>;
  /** Wraps the receiver so that its answers are recorded. */
  watch(receiver: Receiver): Receiver;
  /** Starts to wait for these deliveries, by name. */
  expect(phase: DrillPhase, deliveries: readonly string[]): void;
  /** Waits until all of them have accepted or refused, `timeoutMs` have elapsed, or `signal` aborts. */
  settled(phase: DrillPhase, timeoutMs: number, signal: AbortSignal): Promise<void>;
  /** Records the outcome of each receiver as a step; `unwanted` receivers are excluded by their configuration. */
  note(phase: DrillPhase, unwanted: readonly string[]): void;
  steps(): readonly DrillStep[];
}

export type DrillPhase = "firing" | "resolved";

interface Delivery {
  readonly startedMs: number;
  attempts: number;
  /** null until the receiver has accepted, or refused permanently. */
  endedMs: number | null;
  isAccepted: boolean;
  detail: string;
}

/** Creates an empty board. */
export function createDrillBoard(clock: Clock): DrillBoard {
  const noted: DrillStep[] = [];
  const deliveries: Record<DrillPhase, Map<string, Delivery>> = { firing: new Map(), resolved: new Map() };
  let waiting = new AbortController();

  const isSettled = (phase: DrillPhase): boolean =>
    [...deliveries[phase].values()].every(({ endedMs }) => endedMs !== null);

  return {
    time: async (step, work, describe) => {
      const startedMs = clock.monotonicMs();
      const result = await work();
      const tookMs = clock.monotonicMs() - startedMs;
      noted.push({ step, receiver: null, tookMs, ...(describe?.(result) ?? { isOk: true, detail: "done" }) });
      return result;
    },
    watch: (receiver) => ({
      name: receiver.name,
      type: receiver.type,
      ...(receiver.recipients === undefined ? {} : { recipients: receiver.recipients }),
      deliver: async (notification, context) => {
        const name = deliveryName(receiver.name, context.recipient ?? null);
        const delivery = deliveries[notification.status].get(name);
        if (delivery !== undefined) delivery.attempts++;
        const outcome = await receiver.deliver(notification, context);
        if (delivery === undefined) return outcome;
        delivery.isAccepted = outcome.kind === "accepted";
        delivery.detail = outcome.kind === "accepted" ? outcome.detail : outcome.error;
        if (outcome.kind !== "retry") delivery.endedMs = clock.monotonicMs();
        waiting.abort();
        return outcome;
      },
    }),
    expect: (phase, names) => {
      const startedMs = clock.monotonicMs();
      for (const name of names) {
        const delivery = { startedMs, attempts: 0, endedMs: null, isAccepted: false, detail: "no answer yet" };
        deliveries[phase].set(name, delivery);
      }
    },
    settled: async (phase, timeoutMs, signal) => {
      const endsAtMs = clock.monotonicMs() + timeoutMs;
      while (!isSettled(phase) && !signal.aborted && clock.monotonicMs() < endsAtMs) {
        waiting = new AbortController();
        await clock.sleep(endsAtMs - clock.monotonicMs(), AbortSignal.any([signal, waiting.signal]));
      }
    },
    note: (phase, unwanted) => {
      for (const [receiver, { startedMs, attempts, endedMs, isAccepted, detail }] of deliveries[phase]) {
        const tookMs = (endedMs ?? clock.monotonicMs()) - startedMs;
        const tries = attempts > 1 ? ` (attempt ${attempts})` : "";
        const words = isAccepted ? `accepted, ${detail}` : `not accepted, ${detail}`;
        noted.push({ step: `deliver ${phase}`, receiver, tookMs, isOk: isAccepted, detail: `${words}${tries}` });
      }
      for (const receiver of unwanted) {
        const detail = "not sent: its sendResolved is false";
        noted.push({ step: `deliver ${phase}`, receiver, tookMs: 0, isOk: true, detail });
      }
    },
    steps: () => noted,
  };
}
