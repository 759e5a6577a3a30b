import type { Clock } from "../../base/time.ts";
import type { OutboxReceiver } from "./attempt.ts";

// One slow request must not hold back the notifications of other alerts; many at once would be a storm.
const deliveriesAtOnce = 4;

/**
 * The deliveries of one receiver: how many may begin, and when what still fires is due to be sent again. Nothing of it
 * touches another receiver. A pause that the receiver asks for is in the store, which then leases nothing for it.
 */
export class Lane {
  settings: OutboxReceiver;
  readonly #clock: Pick<Clock, "monotonicMs">;
  #underWay = 0;
  #resentAtMs: number;
  /** Of the deliveries within the time of the rate limit: exact, where a bucket lets a burst through at its edge. */
  #startedAtMs: number[] = [];

  constructor(clock: Pick<Clock, "monotonicMs">, settings: OutboxReceiver) {
    this.#clock = clock;
    this.settings = settings;
    this.#resentAtMs = clock.monotonicMs();
  }

  /** Returns how many deliveries may begin now. */
  free(): number {
    // What is sent again goes alone: it must not put back what a delivery beside it has just resolved.
    if (this.#resendInMs() <= 0) return 0;
    const { rateLimit } = this.settings;
    const allowed = rateLimit === null ? Infinity : Math.floor(rateLimit.count) - this.#recent(rateLimit).length;
    return Math.min(deliveriesAtOnce - this.#underWay, Math.max(0, allowed));
  }

  /** Returns the wait until one more may begin, or until what fires is due again, ms; Infinity: only a delivery's end helps. */
  waitMs(): number {
    const resendInMs = this.#resendInMs();
    if (resendInMs <= 0 && this.#underWay > 0) return Infinity;
    const { rateLimit } = this.settings;
    if (rateLimit === null) return resendInMs;
    const oldestAtMs = this.#recent(rateLimit).at(-Math.floor(rateLimit.count)) ?? Infinity;
    return Math.min(oldestAtMs + rateLimit.perMs - this.#clock.monotonicMs(), resendInMs);
  }

  /** Returns true if firing alerts are due to be sent again and no request is in flight. */
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
