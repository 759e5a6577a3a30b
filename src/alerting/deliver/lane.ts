import type { Clock } from "../../base/time.ts";
import type { OutboxReceiver } from "./attempt.ts";

// One slow request must not delay other notifications; too many at once would be a storm.
const deliveriesAtOnce = 4;

/**
 * The deliveries of one receiver, independent of others: how many may begin, and when a reminder is due. A pause that
 * the receiver asks for is in the store, which leases nothing during it.
 */
export class Lane {
  settings: OutboxReceiver;
  readonly #clock: Pick<Clock, "monotonicMs">;
  #underWay = 0;
  #resentAtMs: number;
  /** Starts within the rate limit's time. Exact: a token bucket would allow two bursts in a row. */
  #startedAtMs: number[] = [];

  constructor(clock: Pick<Clock, "monotonicMs">, settings: OutboxReceiver) {
    this.#clock = clock;
    this.settings = settings;
    this.#resentAtMs = clock.monotonicMs();
  }

  /** Returns how many deliveries may begin now. */
  free(): number {
    // A reminder is sent alone: it must not fire again an alert that a parallel delivery has resolved.
    if (this.#resendInMs() <= 0) return 0;
    const { rateLimit } = this.settings;
    const allowed = rateLimit === null ? Infinity : Math.floor(rateLimit.count) - this.#recent(rateLimit).length;
    return Math.min(deliveriesAtOnce - this.#underWay, Math.max(0, allowed));
  }

  /** Returns the ms until a delivery or a reminder may begin; Infinity: only the end of a delivery helps. */
  waitMs(): number {
    const resendInMs = this.#resendInMs();
    if (resendInMs <= 0 && this.#underWay > 0) return Infinity;
    const { rateLimit } = this.settings;
    if (rateLimit === null) return resendInMs;
    const oldestAtMs = this.#recent(rateLimit).at(-Math.floor(rateLimit.count)) ?? Infinity;
    return Math.min(oldestAtMs + rateLimit.perMs - this.#clock.monotonicMs(), resendInMs);
  }

  /** Returns true if a reminder is due and no request is in flight. */
  isResendDue(): boolean {
    return this.#underWay === 0 && this.#resendInMs() <= 0;
  }

  begin(): void {
    this.#underWay++;
    if (this.settings.rateLimit !== null) this.#startedAtMs.push(this.#clock.monotonicMs());
  }

  end(): void {
    this.#underWay--;
  }

  resent(): void {
    this.#resentAtMs = this.#clock.monotonicMs();
  }

  #resendInMs(): number {
    const { resendIntervalMs = Infinity } = this.settings.receiver;
    return Math.max(0, this.#resentAtMs + resendIntervalMs - this.#clock.monotonicMs());
  }

  #recent({ perMs }: NonNullable<OutboxReceiver["rateLimit"]>): readonly number[] {
    this.#startedAtMs = this.#startedAtMs.filter((atMs) => atMs > this.#clock.monotonicMs() - perMs);
    return this.#startedAtMs;
  }
}
