import type { AlertStore } from "./alerts.ts";
import type { EventStore } from "./events.ts";
import type { LivenessStore } from "./liveness.ts";
import type { MetaStore } from "./meta.ts";
import type { NoticeStore } from "./notices.ts";
import type { OutboxStore } from "./outbox.ts";
import type { PlatformStore } from "./platform.ts";
import type { ScheduleStore } from "./schedule.ts";
import type { SilenceStore } from "./silences.ts";
import type { VerdictStore } from "./verdicts.ts";

/** The parts of the store; inside `transaction` all of them act on the same transaction. */
export interface StoreParts {
  readonly events: EventStore;
  readonly liveness: LivenessStore;
  readonly schedule: ScheduleStore;
  readonly verdicts: VerdictStore;
  readonly alerts: AlertStore;
  readonly outbox: OutboxStore;
  readonly notices: NoticeStore;
  readonly silences: SilenceStore;
  readonly meta: MetaStore;
  readonly platform: PlatformStore;
}

/**
 * The only way to stored state. Methods are async so that a database over the network fits behind them; each one is one
 * statement or one transaction. Rejects with `store_busy`, `store_unusable` or `store_newer`.
 */
export interface Store extends StoreParts {
  /** Runs `work` in one write transaction (BEGIN IMMEDIATE): all of it is durable when the promise resolves, or none. */
  transaction<Result>(work: (parts: StoreParts) => Promise<Result>): Promise<Result>;
  /** Size of the database with its write-ahead log, bytes. */
  bytes(): Promise<number>;
  close(): Promise<void>;
}
